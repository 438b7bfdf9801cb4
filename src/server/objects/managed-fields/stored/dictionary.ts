/**
 * Words that sets of fields have in common, which are not stored with each object: stored lists of managers are
 * compressed against them. Stored data depends on every byte of it; a different dictionary needs another `PACKED_TYPE`.
 * The most frequent words come last.
 */
const SETS: readonly string[] = [
  '{"f:data":{".":{}},"f:type":{},"f:secrets":{},"f:subsets":{},"f:webhooks":{},"f:rules":{},"f:roleRef":{},"f:subjects":{}}',
  '{"f:action":{},"f:count":{},"f:firstTimestamp":{},"f:involvedObject":{},"f:lastTimestamp":{},"f:message":{},"f:reason":{},' +
    '"f:reportingComponent":{},"f:reportingInstance":{},"f:source":{"f:component":{},"f:host":{}},"f:type":{}}',
  '{"f:spec":{"f:allocateLoadBalancerNodePorts":{},"f:clusterIP":{},"f:externalTrafficPolicy":{},"f:internalTrafficPolicy":{},' +
    '"f:ports":{".":{},"k:{\\"port\\":80,\\"protocol\\":\\"TCP\\"}":{".":{},"f:name":{},"f:port":{},"f:protocol":{},"f:targetPort":{}}},' +
    '"f:selector":{},"f:sessionAffinity":{},"f:type":{}}}',
  '{"f:status":{"f:allocatable":{},"f:capacity":{},"f:conditions":{"k:{\\"type\\":\\"DiskPressure\\"}":{"f:lastHeartbeatTime":{}},' +
    '"k:{\\"type\\":\\"MemoryPressure\\"}":{},"k:{\\"type\\":\\"PIDPressure\\"}":{}},"f:daemonEndpoints":{"f:kubeletEndpoint":{"f:Port":{}}},' +
    '"f:images":{},"f:nodeInfo":{"f:architecture":{},"f:kernelVersion":{},"f:operatingSystem":{}},"f:addresses":{}}}',
  '{"f:spec":{"f:completionMode":{},"f:completions":{},"f:parallelism":{},"f:backoffLimit":{},"f:podManagementPolicy":{},"f:serviceName":{},' +
    '"f:updateStrategy":{"f:rollingUpdate":{"f:partition":{},"f:maxUnavailable":{},"f:maxSurge":{}},"f:type":{}},"f:minReadySeconds":{}}}',
  '{"f:metadata":{"f:annotations":{".":{},"f:deployment.kubernetes.io/revision":{},"f:kubectl.kubernetes.io/last-applied-configuration":{}}},' +
    '"f:status":{"f:availableReplicas":{},"f:conditions":{".":{},"k:{\\"type\\":\\"Available\\"}":{".":{},"f:lastTransitionTime":{},' +
    '"f:lastUpdateTime":{},"f:message":{},"f:reason":{},"f:status":{},"f:type":{}},"k:{\\"type\\":\\"Progressing\\"}":{}},' +
    '"f:fullyLabeledReplicas":{},"f:observedGeneration":{},"f:readyReplicas":{},"f:replicas":{},"f:updatedReplicas":{}}}',
  '{"f:spec":{"f:progressDeadlineSeconds":{},"f:replicas":{},"f:revisionHistoryLimit":{},"f:selector":{},"f:strategy":{' +
    '"f:rollingUpdate":{".":{},"f:maxSurge":{},"f:maxUnavailable":{}},"f:type":{}},"f:template":{"f:metadata":{"f:annotations":{".":{}},' +
    '"f:labels":{".":{},"f:app":{}}},"f:spec":{"f:affinity":{},"f:containers":{',
  '["kubectl-client-side-apply","Update","apps/v1","",["kubectl","Apply","v1","",["node","Update","v1","",' +
    '["kube-controller-manager","Update","v1","",["kubelet","Update","v1","status",{"f:status":{"f:conditions":{".":{},' +
    '"k:{\\"type\\":\\"PodScheduled\\"}":{".":{},"f:lastProbeTime":{},"f:lastTransitionTime":{},"f:observedGeneration":{},"f:status":{},"f:type":{}},' +
    '"k:{\\"type\\":\\"PodReadyToStartContainers\\"}":{".":{},"f:lastProbeTime":{},"f:lastTransitionTime":{},"f:observedGeneration":{},"f:status":{},"f:type":{}},' +
    '"k:{\\"type\\":\\"ContainersReady\\"}":{".":{},"f:lastProbeTime":{},"f:lastTransitionTime":{},"f:observedGeneration":{},"f:status":{},"f:type":{}},' +
    '"k:{\\"type\\":\\"Initialized\\"}":{".":{},"f:lastProbeTime":{},"f:lastTransitionTime":{},"f:observedGeneration":{},"f:status":{},"f:type":{}},' +
    '"k:{\\"type\\":\\"Ready\\"}":{".":{},"f:lastProbeTime":{},"f:lastTransitionTime":{},"f:message":{},"f:reason":{},"f:status":{},"f:type":{}}},' +
    '"f:containerStatuses":{},"f:hostIP":{},"f:hostIPs":{},"f:initContainerStatuses":{},"f:observedGeneration":{},"f:phase":{},"f:podIP":{},' +
    '"f:podIPs":{".":{},"k:{\\"ip\\":\\"10.244.0.1\\"}":{".":{},"f:ip":{}}},"f:qosClass":{},"f:startTime":{}}}]]',
  '{"f:metadata":{"f:annotations":{".":{}},"f:finalizers":{".":{},"v:\\"kubernetes.io/\\"":{}},"f:generateName":{},"f:labels":{".":{},"f:app":{},' +
    '"f:app.kubernetes.io/instance":{},"f:app.kubernetes.io/name":{},"f:tier":{},"f:controller-revision-hash":{},"f:pod-template-hash":{}},' +
    '"f:ownerReferences":{".":{},"k:{\\"uid\\":\\"',
  '\\"}":{}}},"f:spec":{"f:affinity":{},"f:automountServiceAccountToken":{},"f:hostNetwork":{},"f:hostname":{},"f:imagePullSecrets":{},' +
    '"f:containers":{"k:{\\"name\\":\\"main\\"}":{".":{},"f:args":{},"f:command":{},"f:env":{".":{},"k:{\\"name\\":\\"POD_NAME\\"}":{".":{},"f:name":{},"f:value":{}},' +
    '"k:{\\"name\\":\\"POD_NAMESPACE\\"}":{".":{},"f:name":{},"f:valueFrom":{".":{},"f:fieldRef":{}}}},"f:envFrom":{},"f:image":{},"f:imagePullPolicy":{},' +
    '"f:lifecycle":{".":{},"f:preStop":{".":{},"f:exec":{".":{},"f:command":{}}}},' +
    '"f:livenessProbe":{".":{},"f:failureThreshold":{},"f:httpGet":{".":{},"f:path":{},"f:port":{},"f:scheme":{}},"f:initialDelaySeconds":{},' +
    '"f:periodSeconds":{},"f:successThreshold":{},"f:timeoutSeconds":{}},"f:name":{},' +
    '"f:ports":{".":{},"k:{\\"containerPort\\":8080,\\"protocol\\":\\"TCP\\"}":{".":{},"f:containerPort":{},"f:name":{},"f:protocol":{}}},' +
    '"f:readinessProbe":{".":{},"f:failureThreshold":{},"f:httpGet":{".":{},"f:path":{},"f:port":{},"f:scheme":{}},' +
    '"f:periodSeconds":{},"f:successThreshold":{},"f:timeoutSeconds":{}},' +
    '"f:resources":{".":{},"f:limits":{".":{},"f:cpu":{},"f:memory":{}},"f:requests":{".":{},"f:cpu":{},"f:memory":{}}},"f:securityContext":{},' +
    '"f:terminationMessagePath":{},"f:terminationMessagePolicy":{},"f:volumeMounts":{".":{},"k:{\\"mountPath\\":\\"/etc/\\"}":{".":{},"f:mountPath":{},' +
    '"f:name":{},"f:readOnly":{}}}}},"f:dnsPolicy":{},"f:enableServiceLinks":{},"f:initContainers":{".":{}},"f:nodeName":{},"f:nodeSelector":{},"f:priorityClassName":{},' +
    '"f:restartPolicy":{},"f:schedulerName":{},"f:securityContext":{},"f:serviceAccount":{},"f:serviceAccountName":{},' +
    '"f:terminationGracePeriodSeconds":{},"f:tolerations":{},"f:volumes":{".":{},"k:{\\"name\\":\\"config\\"}":{".":{},"f:configMap":{".":{},' +
    '"f:defaultMode":{},"f:name":{}},"f:name":{}},"k:{\\"name\\":\\"data\\"}":{".":{},"f:emptyDir":{".":{},"f:sizeLimit":{}},"f:name":{}},' +
    '"k:{\\"name\\":\\"tls\\"}":{".":{},"f:name":{},"f:secret":{".":{},"f:defaultMode":{},"f:secretName":{}}}}}}]]',
];

export const DICTIONARY: Buffer = Buffer.from(SETS.join(''));
