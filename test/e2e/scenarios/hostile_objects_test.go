package scenarios

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"muster.dev/e2e/testbed"
)

// limit is a field of an object that a tenant makes as large as the API server allows.
type limit struct {
	name string
	// object is JSON, with @ where item is repeated. In an item, # is its number and % a number
	// that is a valid port. An object without a kind is a pod.
	object, item string
	most         int // number of items; 0: as many as fit into the object
}

// text is the object with n items, but not much larger than size; the second result is the number
// of items.
func (l limit) text(size, n int) (string, int) {
	before, after, many := strings.Cut(l.object, "@")
	if !many {
		return l.object, 0
	}
	separator := ","
	if strings.HasSuffix(before, `"`) && strings.HasPrefix(after, `"`) {
		separator = "" // one long string
	}
	var b strings.Builder
	b.WriteString(before)
	i := 0
	for ; i < n && b.Len()+len(after) < size; i++ {
		if i > 0 {
			b.WriteString(separator)
		}
		item := strings.ReplaceAll(l.item, "#", fmt.Sprintf("%05d", i))
		b.WriteString(strings.ReplaceAll(item, "%", fmt.Sprint(i%65535+1)))
	}
	b.WriteString(after)
	return b.String(), i
}

const (
	most64   = "9223372036854775807"
	required = `"requiredDuringSchedulingIgnoredDuringExecution"`
	onHost   = `"topologyKey":"kubernetes.io/hostname"`
)

func affinity(kind, terms string) string {
	return `{"spec":{"affinity":{"` + kind + `":` + terms + `}}}`
}

func nodeTerms(terms string) string {
	return affinity("nodeAffinity", `{`+required+`:{"nodeSelectorTerms":[`+terms+`]}}`)
}

func podsApart(terms string) string { return affinity("podAntiAffinity", `{`+required+`:[`+terms+`]}`) }

func oneContainer(fields string) string {
	return `{"spec":{"containers":[{"name":"c","image":"i",` + fields + `}]}}`
}

// deep is a value of n nested objects, as a status may have.
func deep(n int) string { return strings.Repeat(`{"x":`, n) + "1" + strings.Repeat("}", n) }

// The worst known objects, by kind and field.
var limits = []limit{
	{"labels", `{"metadata":{"labels":{@}}}`, `"k#":""`, 0},
	{"annotations", `{"metadata":{"annotations":{@}}}`, `"k#":""`, 30_000},
	{"annotation", `{"metadata":{"annotations":{"a":"@"}}}`, strings.Repeat("x", 1000), 250},
	{"koordinator-groups", `{"metadata":{"annotations":{"gang.scheduling.koordinator.sh/name":"k",
		"gang.scheduling.koordinator.sh/min-available":"1","gang.scheduling.koordinator.sh/groups":"[@\"victim/g0\"]"}}}`,
		`\"a/b#\",`, 15_000},
	{"koordinator-minimum", `{"metadata":{"annotations":{"gang.scheduling.koordinator.sh/name":"m",
		"gang.scheduling.koordinator.sh/min-available":"` + most64 + `",
		"gang.scheduling.koordinator.sh/waiting-time":"` + most64 + `s"}}}`, "", 0},
	{"lightweight-minimum", `{"metadata":{"labels":{"pod-group.scheduling.sigs.k8s.io/name":"m",
		"pod-group.scheduling.sigs.k8s.io/min-available":"` + most64 + `"}}}`, "", 0},
	{"owners", `{"metadata":{"ownerReferences":[@]}}`, `{"apiVersion":"batch/v1","kind":"Job","name":"n#","uid":"u#"}`, 0},
	{"finalizers", `{"metadata":{"finalizers":[@]}}`, `"a.b/f#"`, 0},
	{"long-name", `{"metadata":{"generateName":"` + strings.Repeat("x", 240) + `-"}}`, "", 0},

	{"containers", `{"spec":{"containers":[@]}}`, `{"name":"c#","image":"i"}`, 0},
	{"containers-of-resources", `{"spec":{"containers":[@]}}`,
		`{"name":"c#","image":"i","resources":{"limits":{"a.b/r#":1}}}`, 0},
	{"sum-of-the-largest", `{"spec":{"containers":[@]}}`,
		`{"name":"c#","image":"i","resources":{"limits":{"nvidia.com/gpu":"` + most64 + `"}}}`, 0},
	{"sum-of-the-smallest", `{"spec":{"containers":[@]}}`,
		`{"name":"c#","image":"i","resources":{"requests":{"cpu":"1n","memory":"1m"}}}`, 0},
	{"resources", oneContainer(`"resources":{"limits":{@}}`), `"a.b/r#":"` + most64 + `"`, 0},
	{"largest-amounts", oneContainer(`"resources":{"limits":{"cpu":"` + most64 + `","memory":"` + most64 + `",
		"ephemeral-storage":"` + most64 + `","nvidia.com/gpu":"` + most64 + `"}}`), "", 0},
	{"host-ports", oneContainer(`"ports":[@]`), `{"containerPort":%,"hostPort":%}`, 65_000},
	{"env", oneContainer(`"env":[@]`), `{"name":"n#","value":""}`, 0},
	{"init-containers", `{"spec":{"initContainers":[@]}}`,
		`{"name":"i#","image":"i","resources":{"limits":{"a.b/r#":1}}}`, 0},
	{"sidecars", `{"spec":{"initContainers":[@]}}`,
		`{"name":"i#","image":"i","restartPolicy":"Always","resources":{"limits":{"a.b/r#":1}}}`, 0},

	{"selector", `{"spec":{"nodeSelector":{@}}}`, `"k#":""`, 0},
	{"tolerations", `{"spec":{"tolerations":[@]}}`, `{"key":"k#","operator":"Exists"}`, 0},
	{"node-terms", nodeTerms("@"), `{"matchExpressions":[{"key":"k#","operator":"Exists"}]}`, 0},
	{"node-requirements", nodeTerms(`{"matchExpressions":[@]}`), `{"key":"k#","operator":"DoesNotExist"}`, 0},
	{"node-numbers", nodeTerms(`{"matchExpressions":[@]}`), `{"key":"k#","operator":"Gt","values":["` + most64 + `"]}`, 0},
	{"node-values", nodeTerms(`{"matchExpressions":[{"key":"kubernetes.io/hostname","operator":"NotIn","values":[@]}]}`), `"n#"`, 0},
	{"node-fields", nodeTerms(`{"matchFields":[@]}`), `{"key":"metadata.name","operator":"NotIn","values":["n#"]}`, 0},
	{"node-preferences", affinity("nodeAffinity", `{"preferredDuringSchedulingIgnoredDuringExecution":[@]}`),
		`{"weight":1,"preference":{"matchExpressions":[{"key":"k#","operator":"Exists"}]}}`, 0},
	{"apart-terms", podsApart("@"), `{` + onHost + `,"labelSelector":{"matchLabels":{"k#":""}}}`, 0},
	{"apart-zones", podsApart("@"), `{"topologyKey":"z#","labelSelector":{"matchLabels":{"k#":""}}}`, 0},
	{"apart-labels", podsApart(`{` + onHost + `,"labelSelector":{"matchLabels":{@}}}`), `"k#":""`, 0},
	{"apart-expressions", podsApart(`{` + onHost + `,"labelSelector":{"matchExpressions":[@]}}`), `{"key":"k#","operator":"DoesNotExist"}`, 0},
	{"apart-values", podsApart(`{` + onHost + `,"labelSelector":{"matchExpressions":[{"key":"k","operator":"NotIn","values":[@]}]}}`), `"v#"`, 0},
	{"apart-namespaces", podsApart(`{` + onHost + `,"labelSelector":{},"namespaces":[@]}`), `"ns#"`, 0},
	{"apart-namespace-selector", podsApart(`{` + onHost + `,"labelSelector":{},"namespaceSelector":{"matchLabels":{@}}}`), `"k#":""`, 0},
	{"apart-label-keys", podsApart(`{` + onHost + `,"labelSelector":{},"matchLabelKeys":[@]}`), `"k#"`, 0},
	{"together-terms", affinity("podAffinity", `{`+required+`:[@]}`), `{` + onHost + `,"labelSelector":{"matchLabels":{"k#":""}}}`, 0},
	{"spread", `{"spec":{"topologySpreadConstraints":[@]}}`,
		`{"topologyKey":"z#","maxSkew":1,"whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"k#":""}}}`, 0},
	{"spread-labels", `{"spec":{"topologySpreadConstraints":[{` + onHost + `,"maxSkew":1,"whenUnsatisfiable":"DoNotSchedule",
		"labelSelector":{"matchLabels":{@}}}]}}`, `"k#":""`, 0},

	{"gates", `{"spec":{"schedulingGates":[@]}}`, `{"name":"a.b/g#"}`, 0},
	{"claims", `{"spec":{"volumes":[@]}}`, `{"name":"v#","persistentVolumeClaim":{"claimName":"c#"}}`, 0},
	{"volumes", `{"spec":{"volumes":[@]}}`, `{"name":"v#","emptyDir":{}}`, 0},
	{"devices", `{"spec":{"resourceClaims":[@]}}`, `{"name":"r#","resourceClaimName":"c#"}`, 0},
	{"pull-secrets", `{"spec":{"imagePullSecrets":[@]}}`, `{"name":"s#"}`, 0},
	{"readiness", `{"spec":{"readinessGates":[@]}}`, `{"conditionType":"a.b/c#"}`, 0},
	{"system-class", `{"spec":{"priorityClassName":"system-node-critical","nodeSelector":{"no":"where"}}}`, "", 0},
	{"bound-nowhere", `{"spec":{"nodeName":"nowhere"}}`, "", 0},
	{"of-volcano", `{"spec":{"schedulerName":"volcano","tolerations":[@]}}`, `{"key":"k#","operator":"Exists"}`, 0},

	{"claim-annotations", `{"kind":"PersistentVolumeClaim","apiVersion":"v1","metadata":{"annotations":{@}},
		"spec":{"accessModes":["ReadWriteOnce"],"volumeName":"v","resources":{"requests":{"storage":"` + most64 + `"}}}}`, `"k#":""`, 30_000},
	{"claim-selector", `{"kind":"PersistentVolumeClaim","apiVersion":"v1","spec":{"accessModes":["ReadWriteOnce"],
		"selector":{"matchLabels":{@}},"resources":{"requests":{"storage":"1"}}}}`, `"k#":""`, 0},
	{"device-claim", `{"kind":"ResourceClaim","apiVersion":"resource.k8s.io/v1","spec":{"devices":{"requests":[@]}}}`,
		`{"name":"r#","exactly":{"deviceClassName":"c"}}`, 32},
	{"job", `{"kind":"Job","apiVersion":"batch/v1","spec":{"parallelism":2147483647,"completions":2147483647,
		"template":{"spec":{"restartPolicy":"Never","containers":[@]}}}}`, `{"name":"c#","image":"i"}`, 0},
	{"stateful-set", `{"kind":"StatefulSet","apiVersion":"apps/v1","spec":{"replicas":2147483647,"serviceName":"s",
		"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[@]}}}}`,
		`{"name":"c#","image":"i"}`, 0},

	{"number", volcano(`"status":{"x":18446744073709551616}`), "", 0},
	{"numbers", volcano(`"status":{"x":[@]}`), "1e-320,-1.7976931348623157e308,18446744073709551616", 0},
	{"depth", volcano(`"status":{"x":` + deep(3000) + `}`), "", 0},
	{"depths", volcano(`"status":{"x":[@]}`), deep(100), 0},
	{"empty-objects", volcano(`"status":{"x":[@]}`), "{}", 0},
	{"group-labels", volcano(`"metadata":{"labels":{@}}`), `"k#":""`, 0},
	{"gang-group", `{"kind":"PodGroup","apiVersion":"scheduling.sigs.k8s.io/v1alpha1","metadata":{"annotations":{
		"gang.scheduling.koordinator.sh/groups":"[@\"victim/g0\"]"}},"spec":{"minMember":1}}`, `\"victim/g#\",`, 15_000},
	{"chain", runAI(`"subGroups":[@]`), `{"name":"s#","parent":"s1#","minSubGroup":1}`, 0},
	{"star", runAI(`"subGroups":[{"name":"top"},@]`), `{"name":"s#","parent":"top","minMember":1}`, 0},
	{"no-schema", `{"kind":"PodGroup","apiVersion":"scheduling.x-k8s.io/v1alpha1","spec":{"minMember":` + most64 + `,
		"scheduleTimeoutSeconds":-` + most64 + `,"minResources":{@}}}`, `"a.b/r#":"` + most64 + `"`, 0},
	{"wrong-types", `{"kind":"PodGroup","apiVersion":"scheduling.x-k8s.io/v1alpha1","spec":{"minMember":[@],
		"minResources":` + deep(1000) + `,"scheduleTimeoutSeconds":{"a":1}}}`, `1e308`, 0},
}

func volcano(fields string) string {
	return `{"kind":"PodGroup","apiVersion":"scheduling.volcano.sh/v1beta1",` + fields + `}`
}

func runAI(spec string) string {
	return `{"kind":"PodGroup","apiVersion":"scheduling.run.ai/v2alpha2","spec":{` + spec + `}}`
}

// ---- PodGroups: every field in the schemas of their CRDs ----

// schema is a part of a CRD's schema.
type schema struct {
	Type                 string
	Format               string
	Enum                 []any
	Minimum, Maximum     *float64
	Properties           map[string]*schema
	AdditionalProperties *schema
	Items                *schema
	Required             []string
	IntOrString          bool `json:"x-kubernetes-int-or-string"`
	Unknown              bool `json:"x-kubernetes-preserve-unknown-fields"`
}

// schemaLimits are the limits of all fields that a tenant may set in the dialects' PodGroups.
func schemaLimits(t *testing.T, dialects ...testbed.Dialect) (all []limit) {
	t.Helper()
	for _, d := range dialects {
		for _, crd := range testbed.Objects(t, []byte(read(t, filepath.Join(testbed.Root(t), d.CRDs[0])))) {
			versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
			for _, version := range versions {
				fields := version.(map[string]any)
				if fields["name"] != d.Version {
					continue
				}
				text, err := json.Marshal(fields["schema"].(map[string]any)["openAPIV3Schema"])
				var root schema
				if err != nil || json.Unmarshal(text, &root) != nil {
					t.Fatalf("%s: no schema: %v", crd.GetName(), err)
				}
				if fields["subresources"] != nil {
					delete(root.Properties, "status") // a tenant cannot write it
				}
				for _, l := range root.limits(d.Name) {
					l.object = `{"kind":"PodGroup","apiVersion":"` + d.Group + "/" + d.Version + `",` + l.object[1:]
					all = append(all, l)
				}
			}
		}
	}
	return all
}

// limits visits the schema: it makes each field as large as possible and leaves out other optional
// fields.
func (s *schema) limits(name string) (all []limit) {
	add := func(suffix, object, item string) { all = append(all, limit{name + suffix, object, item, 0}) }
	switch {
	case s.Unknown && len(s.Properties) == 0:
		add("-unknown", `{"x":[@]}`, `{}`)
	case s.Type == "object" && s.AdditionalProperties != nil:
		add("", "{@}", `"k#":`+s.AdditionalProperties.sample())
	case s.Type == "object":
		for _, key := range slices.Sorted(maps.Keys(s.Properties)) {
			beside := ""
			for _, other := range s.Required {
				if other != key {
					beside += `,"` + other + `":` + s.Properties[other].sample()
				}
			}
			for _, l := range s.Properties[key].limits(name + "-" + strings.ToLower(key)) {
				all = append(all, limit{l.name, `{"` + key + `":` + l.object + strings.ReplaceAll(beside, "#", "0") + `}`, l.item, 0})
			}
		}
	case s.Type == "array":
		add("", "[@]", s.Items.sample())
		for _, l := range s.Items.limits(name + "-0") {
			all = append(all, limit{l.name, "[" + l.object + "]", l.item, 0})
		}
	case s.Type == "integer":
		least, most := s.bounds()
		add("-least", fmt.Sprint(least), "")
		add("-most", fmt.Sprint(most), "")
	case s.Type == "string" && len(s.Enum) == 0 && s.Format == "":
		add("", `"@"`, "0123456789abcdef")
	}
	return all
}

func (s *schema) bounds() (least, most int64) {
	least, most = math.MinInt64, math.MaxInt64
	if s.Format == "int32" {
		least, most = math.MinInt32, math.MaxInt32
	}
	if s.Minimum != nil {
		least = int64(*s.Minimum)
	}
	if s.Maximum != nil {
		most = int64(*s.Maximum)
	}
	return least, most
}

// sample is a value with all fields; # makes it different from others.
func (s *schema) sample() string {
	switch {
	case len(s.Enum) > 0:
		return fmt.Sprintf("%q", s.Enum[0])
	case s.Format == "date-time":
		return `"2026-01-01T00:00:00Z"`
	case s.IntOrString:
		return `"` + most64 + `"`
	case s.Type == "string":
		return `"v#"`
	case s.Type == "integer":
		return "1"
	case s.Type == "array":
		return "[" + s.Items.sample() + "]"
	case s.AdditionalProperties != nil:
		return `{"k":` + s.AdditionalProperties.sample() + `}`
	}
	var fields []string
	for _, key := range slices.Sorted(maps.Keys(s.Properties)) {
		fields = append(fields, `"`+key+`":`+s.Properties[key].sample())
	}
	return "{" + strings.Join(fields, ",") + "}"
}

// ---- objects ----

// make builds the tenant's object with at most n items; count is the number of its items.
func (l limit) make(t *testing.T, namespace string, size, n int) (object *unstructured.Unstructured, count int) {
	t.Helper()
	text, count := l.text(size, n)
	var fields map[string]any
	if err := utiljson.Unmarshal([]byte(text), &fields); err != nil {
		t.Fatalf("%s: %v in %.300s", l.name, err, text)
	}
	object = &unstructured.Unstructured{Object: fields}
	if object.GetKind() == "" {
		object.SetKind("Pod")
		object.SetAPIVersion("v1")
	}
	object.SetNamespace(namespace)
	object.SetName(l.name)
	if prefix := object.GetGenerateName(); prefix != "" {
		object.SetName(prefix + "0")
		object.SetGenerateName("")
	}
	switch object.GetKind() {
	case "Pod":
		setMissing(object, plainPod, "spec")
	case "PodGroup":
		setMissing(object, map[string]any{"minMember": int64(2)}, "spec")
	}
	return object, count
}

var plainPod = map[string]any{
	"restartPolicy": "Never", "terminationGracePeriodSeconds": int64(0),
	"containers": []any{map[string]any{"name": "c", "image": "i"}},
}

// setMissing sets those of the fields that a part of the object does not have.
func setMissing(object *unstructured.Unstructured, values map[string]any, part string) {
	there, found := object.Object[part].(map[string]any)
	if !found {
		there = map[string]any{}
		object.Object[part] = there
	}
	for key, value := range values {
		if _, found := there[key]; !found {
			there[key] = value
		}
	}
}

// join makes a pod a member of a PodGroup of a dialect.
func join(object *unstructured.Unstructured, d testbed.Dialect, group string) {
	var pod corev1.Pod
	pod.Labels, pod.Annotations = object.GetLabels(), object.GetAnnotations()
	d.Join(group)(&pod)
	object.SetLabels(pod.Labels)
	object.SetAnnotations(pod.Annotations)
}
