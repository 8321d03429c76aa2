package testbed

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// How long a watch may be interrupted: a busy API server may refuse it for some time.
const watchAway = 30 * time.Second

// StartWatch is the Watch method of a typed client.
type StartWatch func(context.Context, metav1.ListOptions) (watch.Interface, error)

// Follow reports all events after the version in the options, until the context ends. It continues
// a watch that ends. If it cannot, it returns an error, because events are lost.
func Follow(ctx context.Context, options metav1.ListOptions, start StartWatch, see func(watch.Event)) error {
	options.AllowWatchBookmarks = true
	seen := time.Now()
	for ctx.Err() == nil {
		err := watchOnce(ctx, &options, start, see)
		switch {
		case err == nil:
			seen = time.Now()
		case ctx.Err() != nil:
			return nil
		case apierrors.IsResourceExpired(err) || apierrors.IsGone(err) || time.Since(seen) > watchAway:
			return err
		default:
			time.Sleep(50 * time.Millisecond)
		}
	}
	return nil
}

// watchOnce reports events until the watch ends, and stores its version in the options.
func watchOnce(ctx context.Context, options *metav1.ListOptions, start StartWatch, see func(watch.Event)) error {
	watcher, err := start(ctx, *options)
	if err != nil {
		return err
	}
	defer watcher.Stop()
	for event := range watcher.ResultChan() {
		if event.Type == watch.Error {
			return apierrors.FromObject(event.Object)
		}
		options.ResourceVersion = event.Object.(metav1.Object).GetResourceVersion()
		if event.Type != watch.Bookmark {
			see(event)
		}
	}
	return nil
}
