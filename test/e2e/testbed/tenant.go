package testbed

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

// Tenant is a user of one namespace with a user's usual rights there: those of the role `edit`, and
// PodGroups of all dialects.
type Tenant struct {
	Clients
	Namespace string
}

// The role `edit` is the sum of these two. The controller that adds them does not run here.
const tenantRights = `
{apiVersion: v1, kind: ServiceAccount, metadata: {namespace: %[1]s, name: tenant}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {namespace: %[1]s, name: edit}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: "system:aggregate-to-edit"}
subjects: [{kind: ServiceAccount, namespace: %[1]s, name: tenant}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {namespace: %[1]s, name: view}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: "system:aggregate-to-view"}
subjects: [{kind: ServiceAccount, namespace: %[1]s, name: tenant}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {namespace: %[1]s, name: podgroups}
rules:
- apiGroups: [scheduling.run.ai, scheduling.sigs.k8s.io, scheduling.volcano.sh, scheduling.x-k8s.io]
  resources: [podgroups]
  verbs: ["*"]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {namespace: %[1]s, name: podgroups}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: podgroups}
subjects: [{kind: ServiceAccount, namespace: %[1]s, name: tenant}]
`

// Tenant creates a namespace and its user.
func (c *Cluster) Tenant(t TB, namespace string) *Tenant {
	t.Helper()
	c.Namespace(t, namespace)
	c.Apply(t, fmt.Appendf(nil, tenantRights, namespace))
	x := &Tenant{newClients(t, c.URL, c.AccountToken(t, namespace, "tenant"), c.authority.PEM), namespace}
	eventually(t, "the tenant has its rights", func() error {
		ctx, cancel := soon()
		defer cancel()
		_, err := x.Dynamic.Resource(Sigs.resource()).Namespace(namespace).List(ctx, metav1.ListOptions{})
		if err == nil {
			_, err = x.Kube.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
		}
		return err
	})
	return x
}

func (x *Tenant) client(object *unstructured.Unstructured) dynamic.ResourceInterface {
	resource, _ := meta.UnsafeGuessKindToResource(object.GroupVersionKind())
	return x.Dynamic.Resource(resource).Namespace(x.Namespace)
}

// Add creates an object in the tenant's namespace. The API server may refuse it.
func (x *Tenant) Add(object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	ctx, cancel := soon()
	defer cancel()
	return x.client(object).Create(ctx, object, metav1.CreateOptions{})
}

// Change merges fields into an object, or into a subresource of it.
func (x *Tenant) Change(object *unstructured.Unstructured, fields map[string]any, subresources ...string) error {
	body, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	ctx, cancel := soon()
	defer cancel()
	_, err = x.client(object).Patch(ctx, object.GetName(), types.MergePatchType, body, metav1.PatchOptions{}, subresources...)
	return err
}

// Delete deletes an object at once.
func (x *Tenant) Delete(object *unstructured.Unstructured) error {
	ctx, cancel := soon()
	defer cancel()
	return x.client(object).Delete(ctx, object.GetName(), *metav1.NewDeleteOptions(0))
}

// DeleteAll deletes all objects of this kind with this label.
func (x *Tenant) DeleteAll(like *unstructured.Unstructured, selector string) error {
	ctx, cancel := soon()
	defer cancel()
	return x.client(like).DeleteCollection(ctx, *metav1.NewDeleteOptions(0), metav1.ListOptions{LabelSelector: selector})
}
