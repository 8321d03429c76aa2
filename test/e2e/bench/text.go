package bench

import (
	"context"
	"fmt"
	"time"
)

// seconds prints a time without the unit, as in tables.
func seconds(d time.Duration) string {
	if d < 100*time.Millisecond && d > 0 {
		return fmt.Sprintf("%.3f", d.Seconds())
	}
	return fmt.Sprintf("%.2f", d.Seconds())
}

func milliseconds(d time.Duration) string { return number(float64(d.Microseconds()) / 1000) }

// soon is the time limit of a call to the API server.
func soon() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), 30*time.Second)
}
