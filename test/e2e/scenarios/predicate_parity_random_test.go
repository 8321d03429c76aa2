package scenarios

import (
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"muster.dev/e2e/testbed"
)

// world draws nodes and pods from a seed.
type randomWorld struct{ *rand.Rand }

func (r randomWorld) chance(percent int) bool { return r.Intn(100) < percent }

func pickOne[T any](r randomWorld, from ...T) T { return from[r.Intn(len(from))] }

func (r randomWorld) some(from ...string) (chosen []string) {
	for _, each := range from {
		if r.chance(40) {
			chosen = append(chosen, each)
		}
	}
	if len(chosen) == 0 {
		chosen = from[:1]
	}
	return chosen
}

const (
	fpga      corev1.ResourceName = "example.com/fpga"
	hugePages corev1.ResourceName = "hugepages-2Mi"
)

var images = []string{"registry.example/work:1", "registry.example/large:1"}

var taintEffects = []corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule,
	corev1.TaintEffectNoExecute}

func (r randomWorld) node(i int) *corev1.Node {
	amounts := testbed.Amounts{
		"cpu":               fmt.Sprintf("%dm", 500+r.Intn(16)*500),
		"memory":            fmt.Sprintf("%dMi", 512+r.Intn(16)*512),
		"ephemeral-storage": fmt.Sprintf("%dGi", 1+r.Intn(8)),
		"pods":              fmt.Sprint(3 + r.Intn(20)),
	}
	if r.chance(60) {
		amounts[testbed.GPU] = fmt.Sprint(1 + r.Intn(8))
	}
	if r.chance(25) {
		amounts[fpga] = fmt.Sprint(r.Intn(4))
	}
	if r.chance(25) {
		amounts[hugePages] = fmt.Sprintf("%dMi", 2*r.Intn(40))
	}
	n := testbed.Node(fmt.Sprintf("n%02d", i), amounts)
	n.Labels["zone"] = pickOne(r, "a", "b", "c")
	n.Labels["rank"] = pickOne(r, "0", "7", "12", "3x", "many", "0012")
	if r.chance(50) {
		n.Labels["pool"] = pickOne(r, "x", "y", "")
	}
	if r.chance(8) {
		delete(n.Labels, "kubernetes.io/hostname")
	}
	n.Spec.Unschedulable = r.chance(10)
	for r.chance(30) {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{
			Key: fmt.Sprintf("t%d-%d", len(n.Spec.Taints), r.Intn(2)), Value: pickOne(r, "", "v", "w", "5"),
			Effect: pickOne(r, taintEffects...)})
	}
	if r.chance(5) {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: corev1.TaintNodeUnschedulable,
			Effect: corev1.TaintEffectNoSchedule})
	}
	for _, image := range images {
		if r.chance(40) { // irrelevant: nodes without the image are feasible, too
			n.Status.Images = append(n.Status.Images, corev1.ContainerImage{
				Names: []string{image}, SizeBytes: int64(1+r.Intn(2000)) << 20})
		}
	}
	return n
}

// bytes writes a number of bytes in one of the possible notations.
func (r randomWorld) bytes(mebi int) string {
	switch r.Intn(5) {
	case 0:
		return fmt.Sprintf("%dM", mebi)
	case 1:
		return fmt.Sprintf("%de6", mebi)
	case 2:
		return fmt.Sprintf("%d000m", mebi<<20)
	}
	return fmt.Sprintf("%dMi", mebi)
}

func (r randomWorld) requests() corev1.ResourceRequirements {
	list := corev1.ResourceList{}
	set := func(name corev1.ResourceName, text string, percent int) {
		if r.chance(percent) {
			list[name] = resource.MustParse(text)
		}
	}
	set("cpu", fmt.Sprintf("%dm", r.Intn(40)*100), 70)
	set("memory", r.bytes(r.Intn(24)*128), 60)
	set("ephemeral-storage", r.bytes(r.Intn(30)*128), 20)
	set(testbed.GPU, fmt.Sprint(r.Intn(4)), 30)
	set(fpga, fmt.Sprint(r.Intn(3)), 8)
	set("example.com/nowhere", fmt.Sprint(r.Intn(2)), 4)
	if _, asks := list["cpu"]; asks { // huge pages need it
		set(hugePages, fmt.Sprintf("%dMi", 2*r.Intn(12)), 8)
	}
	limits := corev1.ResourceList{}
	for _, name := range slices.Sorted(maps.Keys(list)) { // in a fixed order, so that a seed always draws the same
		whole := strings.Contains(string(name), "/") || name == hugePages // never more than requested
		if whole || r.chance(20) {
			limits[name] = list[name]
		}
	}
	if amount, asks := list["cpu"]; asks && r.chance(10) { // the API server adds the request
		limits["cpu"] = amount
		delete(list, "cpu")
	}
	return corev1.ResourceRequirements{Requests: list, Limits: limits}
}

// podLevel gives the pod its own resources, at least those of all its containers together.
func (r randomWorld) podLevel(p *corev1.Pod) {
	sum := map[corev1.ResourceName]int64{}
	for _, list := range [][]corev1.Container{p.Spec.InitContainers, p.Spec.Containers} {
		for i := range list {
			for _, name := range []corev1.ResourceName{"cpu", "memory"} {
				own := list[i].Resources
				if limit, alone := own.Limits[name]; alone { // the pod's may be missing, and so be less
					own.Requests[name] = limit // equal to it, if there is one
					delete(own.Limits, name)
				}
				sum[name] += own.Requests.Name(name, resource.DecimalSI).MilliValue()
			}
		}
	}
	own := &corev1.ResourceRequirements{Requests: corev1.ResourceList{}, Limits: corev1.ResourceList{}}
	for _, name := range []corev1.ResourceName{"cpu", "memory"} {
		more := int64(r.Intn(8)) * 250
		if name == "memory" {
			more *= 1 << 30
		}
		at := resource.NewMilliQuantity(sum[name]+more, resource.DecimalSI)
		if r.chance(70) {
			own.Requests[name] = *at
		}
		if r.chance(40) { // a limit alone is also the request, if no container has one
			own.Limits[name] = *at
		}
	}
	p.Spec.Resources = own
}

func (r randomWorld) requirement() corev1.NodeSelectorRequirement {
	key := pickOne(r, "zone", "pool", "rank", "absent")
	op := pickOne(r, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn, corev1.NodeSelectorOpExists,
		corev1.NodeSelectorOpDoesNotExist, corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt)
	q := corev1.NodeSelectorRequirement{Key: key, Operator: op}
	switch op {
	case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
		q.Values = r.some("a", "b", "x", "", "7", "12")
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
		q.Values = []string{pickOne(r, "0", "7", "4", "11", "012", "many", "99999999999999999999")}
	}
	return q
}

func (r randomWorld) nodeTerms() *corev1.NodeSelector {
	selector := &corev1.NodeSelector{}
	for range 1 + r.Intn(2) {
		term := corev1.NodeSelectorTerm{}
		for range 1 + r.Intn(2) {
			term.MatchExpressions = append(term.MatchExpressions, r.requirement())
		}
		for r.chance(15) {
			term.MatchFields = append(term.MatchFields, corev1.NodeSelectorRequirement{Key: "metadata.name",
				Operator: pickOne(r, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn),
				Values:   []string{fmt.Sprintf("n%02d", r.Intn(70))}}) // some of these nodes do not exist
		}
		if len(term.MatchFields) > 0 && r.chance(40) {
			term.MatchExpressions = nil
		} else if r.chance(3) {
			term = corev1.NodeSelectorTerm{} // matches no node
		}
		selector.NodeSelectorTerms = append(selector.NodeSelectorTerms, term)
	}
	return selector
}

func (r randomWorld) labelSelector() *metav1.LabelSelector {
	if r.chance(10) {
		return &metav1.LabelSelector{}
	}
	if r.chance(60) {
		return &metav1.LabelSelector{MatchLabels: map[string]string{"app": pickOne(r, "a", "b", "c")}}
	}
	op := pickOne(r, metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn, metav1.LabelSelectorOpExists,
		metav1.LabelSelectorOpDoesNotExist)
	q := metav1.LabelSelectorRequirement{Key: pickOne(r, "app", "tier"), Operator: op}
	if op == metav1.LabelSelectorOpIn || op == metav1.LabelSelectorOpNotIn {
		q.Values = r.some("a", "b", "c")
	}
	return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{q}}
}

func (r randomWorld) antiAffinity() *corev1.Affinity {
	term := corev1.PodAffinityTerm{LabelSelector: r.labelSelector(), TopologyKey: "kubernetes.io/hostname"}
	if r.chance(20) {
		term.NamespaceSelector = &metav1.LabelSelector{}
	} else if r.chance(20) {
		term.Namespaces = []string{pickOne(r, "ml", "other")}
	}
	if r.chance(15) {
		term.MatchLabelKeys = []string{"rev"}
	} else if r.chance(15) {
		term.MismatchLabelKeys = []string{"rev"}
	}
	return &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term}}}
}

func (r randomWorld) tolerations() (list []corev1.Toleration) {
	for r.chance(50) && len(list) < 5 {
		t := corev1.Toleration{Key: fmt.Sprintf("t%d-%d", r.Intn(3), r.Intn(2))}
		if r.chance(40) {
			t.Operator = corev1.TolerationOpExists
			if r.chance(20) {
				t.Key = ""
			}
		} else {
			t.Operator = pickOne(r, "", corev1.TolerationOpEqual)
			t.Value = pickOne(r, "", "v", "w", "5")
		}
		if r.chance(60) {
			t.Effect = pickOne(r, taintEffects...)
		}
		list = append(list, t)
	}
	if r.chance(20) {
		list = append(list, corev1.Toleration{Key: corev1.TaintNodeUnschedulable,
			Operator: pickOne(r, corev1.TolerationOpExists, corev1.TolerationOpEqual),
			Effect:   pickOne(r, "", corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute)})
	}
	return list
}

// comparing is a toleration that muster does not model.
func (r randomWorld) comparing() corev1.Toleration {
	return corev1.Toleration{Key: fmt.Sprintf("t0-%d", r.Intn(2)), Value: pickOne(r, "3", "7"),
		Operator: pickOne(r, corev1.TolerationOpGt, corev1.TolerationOpLt)}
}

// ports gives some containers host ports. The ports of one pod are all written differently.
func (r randomWorld) ports(p *corev1.Pod) {
	written := map[string]bool{}
	onHost := r.chance(6) // then each container port is a host port
	p.Spec.HostNetwork = onHost
	for _, list := range [][]corev1.Container{p.Spec.InitContainers, p.Spec.Containers} {
		for i := range list {
			for r.chance(12) || onHost && r.chance(30) {
				port := corev1.ContainerPort{ContainerPort: int32(8080 + r.Intn(3)),
					HostIP:   pickOne(r, "", "0.0.0.0", "127.0.0.1", "10.0.0.9", "::", "fd00::9"),
					Protocol: pickOne(r, corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP)}
				if !onHost {
					port.HostPort, port.ContainerPort = port.ContainerPort, int32(80+r.Intn(9))
				}
				if text := fmt.Sprint(port.HostIP, port.Protocol, max(port.HostPort, port.ContainerPort)); !written[text] {
					list[i].Ports = append(list[i].Ports, port)
					written[text] = true
				}
			}
		}
	}
}

func (r randomWorld) spread() corev1.TopologySpreadConstraint {
	spread := corev1.TopologySpreadConstraint{MaxSkew: int32(1 + r.Intn(3)), TopologyKey: "kubernetes.io/hostname",
		WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: r.labelSelector()}
	policies := []corev1.NodeInclusionPolicy{corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore}
	if r.chance(30) {
		spread.NodeTaintsPolicy = new(pickOne(r, policies...))
	}
	if r.chance(30) {
		spread.NodeAffinityPolicy = new(pickOne(r, policies...))
	}
	if r.chance(30) {
		spread.MinDomains = new(int32(1 + r.Intn(70)))
	}
	if r.chance(15) {
		spread.MatchLabelKeys = []string{"rev"}
	}
	return spread
}

// containers draws everything with requests: containers, init containers, sidecars, the pod itself,
// and the overhead of its runtime.
func (r randomWorld) containers(p *corev1.Pod) {
	another := func(name string) corev1.Container {
		return corev1.Container{Name: name, Image: pickOne(r, images...), Resources: r.requests()}
	}
	p.Spec.Containers[0] = another("main")
	if r.chance(15) {
		p.Spec.Containers = append(p.Spec.Containers, another("second"))
	}
	for i := 0; r.chance(25) && i < 3; i++ {
		init := another(fmt.Sprintf("init-%d", i))
		if r.chance(40) {
			init.RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
		}
		p.Spec.InitContainers = append(p.Spec.InitContainers, init)
	}
	if r.chance(15) {
		p.Spec.RuntimeClassName = new(pickOne(r, runtimeClasses...))
	}
	if r.chance(20) {
		r.podLevel(p)
	}
}

// runtimeClasses give pods an overhead; one also has a node selector and a toleration.
var runtimeClasses = []string{"sandboxed", "picky"}

func runtimeClassObjects() (list []*unstructured.Unstructured) {
	for i, name := range runtimeClasses {
		object := map[string]any{
			"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "handler": name,
			"metadata": map[string]any{"name": name},
			"overhead": map[string]any{"podFixed": map[string]any{"cpu": "250m", "memory": fmt.Sprintf("%dMi", 64+i)}},
		}
		if name == "picky" {
			object["scheduling"] = map[string]any{"nodeSelector": map[string]any{"pool": "x"},
				"tolerations": []any{map[string]any{"key": "t0-0", "operator": "Exists"}}}
		}
		list = append(list, &unstructured.Unstructured{Object: object})
	}
	return list
}

// idle are fields and rules that exclude no node.
func (r randomWorld) idle(p *corev1.Pod) {
	if r.chance(10) {
		p.Spec.OS = &corev1.PodOS{Name: corev1.Linux}
	}
	if r.chance(10) {
		p.Spec.HostPID = true
		p.Spec.SecurityContext = &corev1.PodSecurityContext{RunAsUser: new(int64(7))}
	}
	if r.chance(10) {
		p.Spec.Volumes = []corev1.Volume{{Name: "scratch", VolumeSource: corev1.VolumeSource{
			EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
	}
	if r.chance(10) {
		spread := r.spread()
		spread.WhenUnsatisfiable, spread.MinDomains = corev1.ScheduleAnyway, nil
		spread.TopologyKey = pickOne(r, "zone", "pool")
		p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, spread)
	}
	if p.Spec.Affinity == nil || !r.chance(20) {
		return
	}
	if nodes := p.Spec.Affinity.NodeAffinity; nodes != nil {
		nodes.PreferredDuringSchedulingIgnoredDuringExecution = []corev1.PreferredSchedulingTerm{{Weight: 7,
			Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{r.requirement()}}}}
	}
	wish := r.antiAffinity().PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0]
	wish.TopologyKey = "zone"
	wishes := []corev1.WeightedPodAffinityTerm{{Weight: 9, PodAffinityTerm: wish}}
	p.Spec.Affinity.PodAffinity = &corev1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: wishes}
}

// spec changes a pod into a random one whose constraints muster models.
func (r randomWorld) spec(p *corev1.Pod) {
	if p.Labels == nil {
		p.Labels = map[string]string{}
	}
	p.Labels["app"] = pickOne(r, "a", "b", "c")
	if r.chance(30) {
		p.Labels["tier"] = pickOne(r, "a", "b")
	}
	if r.chance(50) {
		p.Labels["rev"] = pickOne(r, "1", "2")
	}
	r.containers(p)
	r.ports(p)
	if r.chance(25) {
		key := "zone"
		if p.Spec.RuntimeClassName == nil { // one RuntimeClass selects by the other key
			key = pickOne(r, "zone", "pool")
		}
		p.Spec.NodeSelector = map[string]string{key: pickOne(r, "a", "b", "x", "")}
		if r.chance(20) {
			p.Spec.NodeSelector["kubernetes.io/arch"] = "amd64"
		}
	}
	if r.chance(15) {
		p.Spec.Affinity = r.antiAffinity()
	}
	if r.chance(30) {
		if p.Spec.Affinity == nil {
			p.Spec.Affinity = &corev1.Affinity{}
		}
		p.Spec.Affinity.NodeAffinity = &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: r.nodeTerms()}
	}
	if r.chance(12) {
		p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{r.spread()}
		if r.chance(20) { // a second constraint must differ in key or action
			second := r.spread()
			second.TopologyKey = "zone" // not modelled, with this action
			p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, second)
		}
	}
	r.idle(p)
	p.Spec.Tolerations = r.tolerations()
	if r.chance(4) {
		p.Spec.Tolerations = append(p.Spec.Tolerations, r.comparing())
	}
	if r.chance(4) { // not modelled, so it must not be compared
		zone := r.antiAffinity().PodAntiAffinity
		zone.RequiredDuringSchedulingIgnoredDuringExecution[0].TopologyKey = "zone"
		p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: zone}
	}
}

// isBeyond says whether a drawn pod has a rule that muster does not model. All other pods are
// compared.
func isBeyond(p *corev1.Pod) bool {
	for _, t := range p.Spec.Tolerations {
		if t.Operator == corev1.TolerationOpGt || t.Operator == corev1.TolerationOpLt {
			return true
		}
	}
	for _, s := range p.Spec.TopologySpreadConstraints {
		all := len(s.LabelSelector.MatchLabels)+len(s.LabelSelector.MatchExpressions) == 0
		if len(s.MatchLabelKeys) > 0 && p.Labels["rev"] != "" {
			all = false
		}
		if s.WhenUnsatisfiable == corev1.DoNotSchedule && (all || s.TopologyKey != corev1.LabelHostname) {
			return true
		}
	}
	if a := p.Spec.Affinity; a != nil && a.PodAntiAffinity != nil {
		for _, term := range a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
			if term.TopologyKey != corev1.LabelHostname {
				return true
			}
		}
	}
	return false
}

// inForce is the status of a pod that was resized in place: the kubelet may have granted more or
// less than the pod requests.
func (r randomWorld) inForce(p *corev1.Pod) map[string]any {
	granted := func() (resources, allocated map[string]any) {
		requests := map[string]any{"cpu": fmt.Sprintf("%dm", 100*r.Intn(30)), "memory": r.bytes(128 * r.Intn(12))}
		allocated = map[string]any{"cpu": fmt.Sprintf("%dm", 100*r.Intn(30))}
		return map[string]any{"requests": requests}, allocated
	}
	statuses := func(list []corev1.Container) (all []any) {
		for _, c := range list {
			status := map[string]any{"name": c.Name, "image": c.Image, "imageID": "", "ready": false, "restartCount": 0}
			if r.chance(70) {
				status["resources"], status["allocatedResources"] = granted()
			}
			all = append(all, status)
		}
		return all
	}
	status := map[string]any{"containerStatuses": statuses(p.Spec.Containers),
		"initContainerStatuses": statuses(p.Spec.InitContainers)}
	if p.Spec.Resources != nil {
		status["resources"], status["allocatedResources"] = granted()
	}
	if r.chance(30) {
		status["conditions"] = []any{map[string]any{"type": "PodResizePending", "status": "True",
			"reason": pickOne(r, "Infeasible", "Deferred")}}
	}
	return map[string]any{"status": status}
}
