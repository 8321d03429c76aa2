/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object_fields.h - the table of test_object_cost.c: one row for each list or map that a user can
 * make as long as the API server allows.
 */
#ifndef MUSTER_TEST_OBJECT_FIELDS_H
#define MUSTER_TEST_OBJECT_FIELDS_H

enum object_kind {
    OBJECT_POD,
    OBJECT_NODE,
    OBJECT_CLAIM,
    OBJECT_VOLUME,
    OBJECT_CLASS,
    OBJECT_BUDGET,
    OBJECT_JOB,
    OBJECT_GROUP,
    OBJECT_QUEUE
};

/*
 * `json` is the object with ' for ", and with @ where `item` is repeated, separated by commas,
 * until the object has the wanted size. In an item, # is its number and % a number that is a valid
 * port.
 */
struct object_field {
    enum object_kind kind;
    const char *path; /* the repeated field, for messages */
    const char *json, *item;
    const char *dialect; /* OBJECT_GROUP, OBJECT_QUEUE: the API group */
};

#define POD_META                                                                                   \
    "'name':'big','namespace':'evil','uid':'uid-big','resourceVersion':'7',"                       \
    "'creationTimestamp':'2026-01-01T00:00:00Z'"
#define MEMBER               "'labels':{'scheduling.x-k8s.io/pod-group':'g'}"
#define ONE_GPU              "'containers':[{'name':'c','resources':{'requests':{'nvidia.com/gpu':'1'}}}]"
#define POD(spec)            "{'metadata':{" POD_META "," MEMBER "},'spec':{" ONE_GPU "," spec "}}"
#define POD_CONTAINERS(spec) "{'metadata':{" POD_META "," MEMBER "},'spec':{" spec "}}"
#define REQUIRED             "'requiredDuringSchedulingIgnoredDuringExecution'"
#define NODE_TERMS(terms)                                                                          \
    POD("'affinity':{'nodeAffinity':{" REQUIRED ":{'nodeSelectorTerms':[" terms "]}}}")
#define APART(terms)    POD("'affinity':{'podAntiAffinity':{" REQUIRED ":[" terms "]}}")
#define TOGETHER(terms) POD("'affinity':{'podAffinity':{" REQUIRED ":[" terms "]}}")
#define SPREAD(s)       POD("'topologySpreadConstraints':[" s "]")
#define ON_HOST         "'topologyKey':'kubernetes.io/hostname'"
#define NODE_META       "'name':'big','resourceVersion':'7','uid':'uid-node'"
#define ALLOCATABLE     "'allocatable':{'pods':'110','nvidia.com/gpu':'8'}"
#define GROUP_META                                                                                 \
    "'name':'g','namespace':'evil','uid':'uid-g','resourceVersion':'7',"                           \
    "'creationTimestamp':'2026-01-01T00:00:00Z'"
#define GROUP(spec) "{'metadata':{" GROUP_META "},'spec':{" spec "}}"
#define QUEUE_META                                                                                 \
    "'name':'q','namespace':'evil','uid':'uid-q','resourceVersion':'7',"                           \
    "'creationTimestamp':'2026-01-01T00:00:00Z'"
#define QUEUE(spec) "{'metadata':{" QUEUE_META "},'spec':{" spec "}}"
#define KAI         "scheduling.run.ai"
#define VOLCANO     "scheduling.volcano.sh"
#define XK8S        "scheduling.x-k8s.io"
#define SIGS        "scheduling.sigs.k8s.io"

static const struct object_field object_fields[] = {
    /* ---- pods: metadata ---- */
    {OBJECT_POD, "metadata.labels",
     "{'metadata':{" POD_META ",'labels':{'scheduling.x-k8s.io/pod-group':'g',@}},'spec':{" ONE_GPU
     "}}",
     "'k#':''", NULL},
    {OBJECT_POD, "metadata.annotations",
     "{'metadata':{" POD_META "," MEMBER ",'annotations':{@}},'spec':{" ONE_GPU "}}", "'k#':''",
     NULL},
    {OBJECT_POD, "metadata.annotations: one value",
     "{'metadata':{" POD_META "," MEMBER ",'annotations':{'k':'@'}},'spec':{" ONE_GPU "}}",
     "0123456789abcdef", NULL},
    {OBJECT_POD, "metadata.annotations[gang.scheduling.koordinator.sh/groups]",
     "{'metadata':{" POD_META
     ",'annotations':{'gang.scheduling.koordinator.sh/name':'g','gang.scheduling.koordinator.sh/"
     "min-available':'1','gang.scheduling.koordinator.sh/groups':'[@]'}},'spec':{" ONE_GPU "}}",
     "\\'a/b#\\'", NULL},
    {OBJECT_POD, "metadata.ownerReferences",
     "{'metadata':{" POD_META "," MEMBER ",'ownerReferences':[@]},'spec':{" ONE_GPU "}}",
     "{'apiVersion':'v1','kind':'K','name':'n#','uid':'u#'}", NULL},
    {OBJECT_POD, "metadata.finalizers",
     "{'metadata':{" POD_META "," MEMBER ",'finalizers':[@]},'spec':{" ONE_GPU "}}", "'a/b#'",
     NULL},
    {OBJECT_POD, "metadata.managedFields",
     "{'metadata':{" POD_META "," MEMBER ",'managedFields':[@]},'spec':{" ONE_GPU "}}",
     "{'manager':'m#','fieldsV1':{'f:a':{}}}", NULL},
    /* ---- pods: containers ---- */
    {OBJECT_POD, "spec.containers", POD_CONTAINERS("'containers':[@]"), "{'name':'c#'}", NULL},
    {OBJECT_POD, "spec.containers with requests of one resource",
     POD_CONTAINERS("'containers':[@]"),
     "{'name':'c#','resources':{'requests':{'nvidia.com/gpu':1}}}", NULL},
    {OBJECT_POD, "spec.containers with requests of many resources",
     POD_CONTAINERS("'containers':[@]"), "{'name':'c#','resources':{'requests':{'a.b/r#':'1'}}}",
     NULL},
    {OBJECT_POD, "spec.containers[0].resources.requests",
     POD_CONTAINERS("'containers':[{'name':'c','resources':{'requests':{@}}}]"), "'a.b/r#':'1'",
     NULL},
    {OBJECT_POD, "spec.containers[0].resources.limits",
     POD_CONTAINERS("'containers':[{'name':'c','resources':{'limits':{@}}}]"), "'a.b/r#':'1'",
     NULL},
    {OBJECT_POD, "spec.containers[0].resources.claims",
     POD_CONTAINERS("'containers':[{'name':'c','resources':{'claims':[@]}}]"), "{'name':'n#'}",
     NULL},
    {OBJECT_POD, "spec.containers[0].ports",
     POD_CONTAINERS("'containers':[{'name':'c','ports':[@]}]"), "{'containerPort':%}", NULL},
    {OBJECT_POD, "spec.containers[0].ports with hostPort",
     POD_CONTAINERS("'containers':[{'name':'c','ports':[@]}]"), "{'hostPort':%,'containerPort':%}",
     NULL},
    {OBJECT_POD, "spec.containers[0].ports with hostIP",
     POD_CONTAINERS("'containers':[{'name':'c','ports':[@]}]"),
     "{'hostPort':9100,'hostIP':'::#','protocol':'UDP'}", NULL},
    {OBJECT_POD, "spec.containers[0].env", POD_CONTAINERS("'containers':[{'name':'c','env':[@]}]"),
     "{'name':'n#','value':''}", NULL},
    {OBJECT_POD, "spec.containers[0].restartPolicyRules",
     POD_CONTAINERS("'containers':[{'name':'c','restartPolicyRules':[@]}]"), "{'action':'a#'}",
     NULL},
    {OBJECT_POD, "spec.initContainers", POD("'initContainers':[@]"),
     "{'name':'i#','resources':{'requests':{'a.b/r#':'1'}}}", NULL},
    {OBJECT_POD, "spec.initContainers that are sidecars", POD("'initContainers':[@]"),
     "{'name':'i#','restartPolicy':'Always','resources':{'requests':{'a.b/r#':'1'}}}", NULL},
    {OBJECT_POD, "spec.ephemeralContainers", POD("'ephemeralContainers':[@]"), "{'name':'e#'}",
     NULL},
    {OBJECT_POD, "spec.overhead", POD("'overhead':{@}"), "'a.b/r#':'1'", NULL},
    {OBJECT_POD, "spec.resources.requests", POD("'resources':{'requests':{@}}"),
     "'hugepages-#':'1'", NULL},
    {OBJECT_POD, "spec.resources.limits", POD("'resources':{'limits':{@}}"), "'hugepages-#':'1'",
     NULL},
    /* ---- pods: placement ---- */
    {OBJECT_POD, "spec.nodeSelector", POD("'nodeSelector':{@}"), "'k#':''", NULL},
    {OBJECT_POD, "spec.tolerations", POD("'tolerations':[@]"), "{'key':'k#','operator':'Exists'}",
     NULL},
    {OBJECT_POD, "spec.tolerations that are alike", POD("'tolerations':[@]"),
     "{'key':'k','effect':'NoExecute','operator':'Exists'}", NULL},
    {OBJECT_POD, "spec.affinity.nodeAffinity: terms", NODE_TERMS("@"),
     "{'matchExpressions':[{'key':'k#','operator':'Exists'}]}", NULL},
    {OBJECT_POD, "spec.affinity.nodeAffinity: terms of 8 requirements on labels that nodes have",
     NODE_TERMS("@"),
     "{'matchExpressions':[{'key':'example.com/label-1','operator':'Exists'},{'key':'example.com/"
     "label-2','operator':'Exists'},{'key':'example.com/label-3','operator':'Exists'},{'key':"
     "'example.com/label-4','operator':'Exists'},{'key':'example.com/label-5','operator':'Exists'},"
     "{'key':'example.com/label-6','operator':'Exists'},{'key':'example.com/label-7','operator':"
     "'Exists'},{'key':'none','operator':'Exists'}]}",
     NULL},
    {OBJECT_POD, "spec.affinity.nodeAffinity: empty terms", NODE_TERMS("@"), "{}", NULL},
    {OBJECT_POD, "spec.affinity.nodeAffinity: requirements", NODE_TERMS("{'matchExpressions':[@]}"),
     "{'key':'k#','operator':'DoesNotExist'}", NULL},
    {OBJECT_POD, "spec.affinity.nodeAffinity: values",
     NODE_TERMS("{'matchExpressions':[{'key':'kubernetes.io/hostname','operator':'NotIn','values':"
                "[@]}]}"),
     "'n#'", NULL},
    {OBJECT_POD, "spec.affinity.nodeAffinity: matchFields", NODE_TERMS("{'matchFields':[@]}"),
     "{'key':'metadata.name','operator':'NotIn','values':['n#']}", NULL},
    {OBJECT_POD, "spec.affinity.nodeAffinity: preferred",
     POD("'affinity':{'nodeAffinity':{'preferredDuringSchedulingIgnoredDuringExecution':[@]}}"),
     "{'weight':1,'preference':{'matchExpressions':[{'key':'k#','operator':'Exists'}]}}", NULL},
    {OBJECT_POD, "spec.affinity.podAntiAffinity: terms", APART("@"),
     "{" ON_HOST ",'labelSelector':{'matchLabels':{'k#':''}}}", NULL},
    {OBJECT_POD, "spec.affinity.podAntiAffinity: terms over zones", APART("@"),
     "{'topologyKey':'zone#','labelSelector':{'matchLabels':{'k#':''}}}", NULL},
    {OBJECT_POD, "spec.affinity.podAntiAffinity: matchLabels",
     APART("{" ON_HOST ",'labelSelector':{'matchLabels':{@}}}"), "'k#':''", NULL},
    {OBJECT_POD, "spec.affinity.podAntiAffinity: matchExpressions",
     APART("{" ON_HOST ",'labelSelector':{'matchExpressions':[@]}}"),
     "{'key':'k#','operator':'DoesNotExist'}", NULL},
    {OBJECT_POD, "spec.affinity.podAntiAffinity: values",
     APART("{" ON_HOST ",'labelSelector':{'matchExpressions':[{'key':'app','operator':'NotIn',"
           "'values':[@]}]}}"),
     "'v#'", NULL},
    {OBJECT_POD, "spec.affinity.podAntiAffinity: namespaces",
     APART("{" ON_HOST ",'labelSelector':{},'namespaces':[@]}"), "'ns#'", NULL},
    {OBJECT_POD, "spec.affinity.podAntiAffinity: namespaceSelector",
     APART("{" ON_HOST ",'labelSelector':{},'namespaceSelector':{'matchLabels':{@}}}"), "'k#':''",
     NULL},
    {OBJECT_POD, "spec.affinity.podAntiAffinity: matchLabelKeys",
     APART("{" ON_HOST ",'labelSelector':{},'matchLabelKeys':[@]}"), "'k#'", NULL},
    {OBJECT_POD, "spec.affinity.podAffinity: terms", TOGETHER("@"),
     "{" ON_HOST ",'labelSelector':{'matchLabels':{'k#':''}}}", NULL},
    {OBJECT_POD, "spec.topologySpreadConstraints", SPREAD("@"),
     "{" ON_HOST ",'maxSkew':1,'labelSelector':{'matchLabels':{'k#':''}}}", NULL},
    {OBJECT_POD, "spec.topologySpreadConstraints over zones", SPREAD("@"),
     "{'topologyKey':'zone#','maxSkew':1,'labelSelector':{'matchLabels':{'k#':''}}}", NULL},
    {OBJECT_POD, "spec.topologySpreadConstraints: matchLabels",
     SPREAD("{" ON_HOST ",'labelSelector':{'matchLabels':{@}}}"), "'k#':''", NULL},
    {OBJECT_POD, "spec.topologySpreadConstraints: matchLabelKeys",
     SPREAD("{" ON_HOST ",'labelSelector':{},'matchLabelKeys':[@]}"), "'k#'", NULL},
    /* ---- pods: the rest ---- */
    {OBJECT_POD, "spec.schedulingGates", POD("'schedulingGates':[@]"), "{'name':'a/g#'}", NULL},
    {OBJECT_POD, "spec.volumes with claims", POD("'volumes':[@]"),
     "{'name':'v#','persistentVolumeClaim':{'claimName':'c#'}}", NULL},
    {OBJECT_POD, "spec.volumes that are ephemeral", POD("'volumes':[@]"),
     "{'name':'v#','ephemeral':{}}", NULL},
    {OBJECT_POD, "spec.volumes of one claim", POD("'volumes':[@]"),
     "{'name':'v#','persistentVolumeClaim':{'claimName':'c'}}", NULL},
    {OBJECT_POD, "spec.volumes", POD("'volumes':[@]"), "{'name':'v#','emptyDir':{}}", NULL},
    {OBJECT_POD, "spec.resourceClaims", POD("'resourceClaims':[@]"), "{'name':'r#'}", NULL},
    {OBJECT_POD, "spec.imagePullSecrets", POD("'imagePullSecrets':[@]"), "{'name':'r#'}", NULL},
    {OBJECT_POD, "spec.hostAliases", POD("'hostAliases':[@]"), "{'ip':'::#'}", NULL},
    {OBJECT_POD, "spec.readinessGates", POD("'readinessGates':[@]"), "{'conditionType':'a/b#'}",
     NULL},
    {OBJECT_POD, "spec.affinity: fields unknown to muster", POD("'affinity':{@}"), "'k#':{}", NULL},
    {OBJECT_POD, "status.conditions",
     "{'metadata':{" POD_META "," MEMBER "},'spec':{" ONE_GPU "},'status':{'conditions':[@]}}",
     "{'type':'t#','status':'True'}", NULL},
    {OBJECT_POD, "status.conditions[PodScheduled].message",
     "{'metadata':{" POD_META "," MEMBER "},'spec':{" ONE_GPU
     "},'status':{'conditions':[{'type':'PodScheduled','status':'False','reason':'Unschedulable',"
     "'message':'@'}]}}",
     "Insufficient nvidia.com/gpu.", NULL},
    {OBJECT_POD, "status.containerStatuses",
     "{'metadata':{" POD_META "," MEMBER "},'spec':{" ONE_GPU
     "},'status':{'containerStatuses':[@]}}",
     "{'name':'c#','resources':{'requests':{'a.b/r#':'1'}}}", NULL},
    /* ---- nodes ---- */
    {OBJECT_NODE, "metadata.labels",
     "{'metadata':{" NODE_META ",'labels':{@}},'status':{" ALLOCATABLE "}}", "'k#':''", NULL},
    {OBJECT_NODE, "metadata.annotations",
     "{'metadata':{" NODE_META ",'annotations':{@}},'status':{" ALLOCATABLE "}}", "'k#':''", NULL},
    {OBJECT_NODE, "spec.taints",
     "{'metadata':{" NODE_META "},'spec':{'taints':[@]},'status':{" ALLOCATABLE "}}",
     "{'key':'k#','effect':'NoSchedule'}", NULL},
    {OBJECT_NODE, "status.allocatable", "{'metadata':{" NODE_META "},'status':{'allocatable':{@}}}",
     "'a.b/r#':'1'", NULL},
    {OBJECT_NODE, "status.images",
     "{'metadata':{" NODE_META "},'status':{" ALLOCATABLE ",'images':[@]}}",
     "{'names':['i#'],'sizeBytes':1}", NULL},
    {OBJECT_NODE, "status.conditions",
     "{'metadata':{" NODE_META "},'status':{" ALLOCATABLE ",'conditions':[@]}}", "{'type':'t#'}",
     NULL},
    /* ---- volumes ---- */
    {OBJECT_CLAIM, "metadata.annotations",
     "{'metadata':{'name':'c','namespace':'evil','annotations':{@}},'spec':{'volumeName':'v'}}",
     "'k#':''", NULL},
    {OBJECT_CLAIM, "metadata.annotations[selected-node]",
     "{'metadata':{'name':'c','namespace':'evil','annotations':{'volume.kubernetes.io/"
     "selected-node':'@'}}}",
     "0123456789abcdef", NULL},
    {OBJECT_VOLUME, "spec.nodeAffinity: terms",
     "{'metadata':{'name':'v'},'spec':{'nodeAffinity':{'required':{'nodeSelectorTerms':[@]}}}}",
     "{'matchExpressions':[{'key':'k#','operator':'Exists'}]}", NULL},
    {OBJECT_VOLUME, "spec.nodeAffinity: requirements",
     "{'metadata':{'name':'v'},'spec':{'nodeAffinity':{'required':{'nodeSelectorTerms':[{"
     "'matchExpressions':[@]}]}}}}",
     "{'key':'k#','operator':'DoesNotExist'}", NULL},
    {OBJECT_VOLUME, "spec.nodeAffinity: values",
     "{'metadata':{'name':'v'},'spec':{'nodeAffinity':{'required':{'nodeSelectorTerms':[{"
     "'matchExpressions':[{'key':'kubernetes.io/hostname','operator':'NotIn','values':[@]}]}]}}}}",
     "'n#'", NULL},
    /* ---- priority classes ---- */
    {OBJECT_CLASS, "description", "{'metadata':{'name':'class'},'value':7,'description':'@'}",
     "0123456789abcdef", NULL},
    {OBJECT_CLASS, "metadata.labels", "{'metadata':{'name':'class','labels':{@}},'value':7}",
     "'k#':''", NULL},
    /* ---- PodDisruptionBudgets ---- */
    {OBJECT_BUDGET, "spec.selector.matchLabels",
     "{'metadata':{'name':'b','namespace':'evil'},'spec':{'selector':{'matchLabels':{@}}}}",
     "'k#':''", NULL},
    {OBJECT_BUDGET, "spec.selector.matchExpressions",
     "{'metadata':{'name':'b','namespace':'evil'},'spec':{'selector':{'matchExpressions':[@]}}}",
     "{'key':'k#','operator':'DoesNotExist'}", NULL},
    {OBJECT_BUDGET, "spec.selector: values",
     "{'metadata':{'name':'b','namespace':'evil'},'spec':{'selector':{'matchExpressions':[{"
     "'key':'k','operator':'NotIn','values':[@]}]}}}",
     "'v#'", NULL},
    {OBJECT_BUDGET, "status.disruptedPods",
     "{'metadata':{'name':'b','namespace':'evil'},'spec':{'selector':{}},'status':{"
     "'disruptedPods':{@}}}",
     "'p#':'2026-01-01T00:00:00Z'", NULL},
    /* ---- Jobs ---- */
    {OBJECT_JOB, "spec.podFailurePolicy.rules",
     "{'metadata':{'name':'j','namespace':'evil'},'spec':{'podFailurePolicy':{'rules':[@]}}}",
     "{'action':'Count','onPodConditions':[{'type':'a#'}]}", NULL},
    {OBJECT_JOB, "spec.podFailurePolicy.rules[0].onPodConditions",
     "{'metadata':{'name':'j','namespace':'evil'},'spec':{'podFailurePolicy':{'rules':[{"
     "'onPodConditions':[@]}]}}}",
     "{'type':'a#'}", NULL},
    {OBJECT_JOB, "spec.template.spec.containers",
     "{'metadata':{'name':'j','namespace':'evil'},'spec':{'template':{'spec':{'containers':[@]}}}}",
     "{'name':'c#'}", NULL},
    /* ---- PodGroups ---- */
    {OBJECT_GROUP, "metadata.labels", "{'metadata':{" GROUP_META ",'labels':{@}},'spec':{}}",
     "'k#':''", XK8S},
    {OBJECT_GROUP, "metadata.annotations[…/groups]",
     "{'metadata':{" GROUP_META
     ",'annotations':{'gang.scheduling.koordinator.sh/groups':'[@]'}},'spec':{'minMember':1}}",
     "\\'a/b#\\'", SIGS},
    {OBJECT_GROUP, "spec.minResources", GROUP("'minMember':1,'minResources':{@}"), "'a.b/r#':'1'",
     XK8S},
    {OBJECT_GROUP, "spec.subGroups", GROUP("'subGroups':[@]"), "{'name':'s#','minMember':1}", KAI},
    {OBJECT_GROUP, "spec.subGroups in a chain",
     GROUP("'subGroups':[{'name':'s0','minMember':1},@]"),
     "{'name':'t#','parent':'s0','minMember':1}", KAI},
    {OBJECT_GROUP, "spec.subGroups of one name", GROUP("'subGroups':[@]"),
     "{'name':'s','minMember':1}", KAI},
    {OBJECT_GROUP, "spec.parentPodGroup", GROUP("'minMember':1,'parentPodGroup':'@'"), "0123456789",
     KAI},
    {OBJECT_GROUP, "spec.priorityClassName", GROUP("'minMember':1,'priorityClassName':'@'"),
     "0123456789", KAI},
    {OBJECT_GROUP, "spec.minTaskMember", GROUP("'minMember':1000000,'minTaskMember':{@}"), "'t#':1",
     VOLCANO},
    {OBJECT_GROUP, "spec.subGroupPolicy", GROUP("'minMember':1,'subGroupPolicy':[@]"),
     "{'name':'p#','subGroupSize':1,'matchLabelKeys':['k#']}", VOLCANO},
    {OBJECT_GROUP, "spec.subGroupPolicy: labelSelector",
     GROUP("'minMember':1,'subGroupPolicy':[{'name':'p','labelSelector':{'matchLabels':{@}}}]"),
     "'k#':''", VOLCANO},
    {OBJECT_GROUP, "spec.subGroupPolicy: matchLabelKeys",
     GROUP("'minMember':1,'subGroupPolicy':[{'name':'p','matchLabelKeys':[@]}]"), "'k#'", VOLCANO},
    {OBJECT_GROUP, "status.conditions",
     "{'metadata':{" GROUP_META "},'spec':{'minMember':1},'status':{'conditions':[@]}}",
     "{'type':'t#','status':'True'}", VOLCANO},
    /* ---- queues ---- */
    {OBJECT_QUEUE, "metadata.labels", "{'metadata':{" QUEUE_META ",'labels':{@}},'spec':{}}",
     "'k#':''", KAI},
    {OBJECT_QUEUE, "spec.parentQueue", QUEUE("'parentQueue':'@'"), "0123456789", KAI},
    {OBJECT_QUEUE, "spec.resources", QUEUE("'resources':{@}"), "'r#':{'quota':1}", KAI},
    {OBJECT_QUEUE, "spec.resources.gpu", QUEUE("'resources':{'gpu':{'quota':1,@}}"), "'k#':1", KAI},
    {OBJECT_QUEUE, "spec.capability", QUEUE("'capability':{@}"), "'a.b/r#':'1'", VOLCANO},
    {OBJECT_QUEUE, "spec.guarantee.resource", QUEUE("'guarantee':{'resource':{@}}"), "'a.b/r#':'1'",
     VOLCANO},
    {OBJECT_QUEUE, "spec.max", QUEUE("'max':{@}"), "'a.b/r#':'1'", XK8S},
    {OBJECT_QUEUE, "status.allocated",
     "{'metadata':{" QUEUE_META "},'spec':{},'status':{'allocated':{@}}}", "'a.b/r#':'1'", VOLCANO},
};

#endif
