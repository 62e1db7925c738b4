package main

import (
	"fmt"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// shown names an object with what the test changes of it.
func shown(object interface{}) string {
	if gone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = gone.Obj
	}
	switch held := object.(type) {
	case *core.ConfigMap:
		return fmt.Sprintf("configmap %s %s", held.Name, held.Data["colour"])
	case *apps.Deployment:
		return fmt.Sprintf("deployment %s %d", held.Name, *held.Spec.Replicas)
	}
	return fmt.Sprintf("%T", object)
}

// proxied runs informers of two kinds of a member through the cluster proxy. clients_test.cc changes objects in the member,
// and restarts it; what the informers see is printed, until they see the ConfigMap "the-end".
func proxied(config *rest.Config, member string) {
	through := rest.CopyConfig(config)
	through.Host += "/apis/cluster.karmada.io/v1alpha1/clusters/" + member + "/proxy"
	typed, err := kubernetes.NewForConfig(through)
	must(err, "making a client of the proxy")
	factory := informers.NewSharedInformerFactoryWithOptions(typed, 0, informers.WithNamespace("default"))
	ended := make(chan struct{})
	handler := cache.ResourceEventHandlerFuncs{
		AddFunc: func(object interface{}) {
			step("added " + shown(object))
			if held, ok := object.(*core.ConfigMap); ok && held.Name == "the-end" {
				close(ended)
			}
		},
		UpdateFunc: func(_, object interface{}) { step("changed " + shown(object)) },
		DeleteFunc: func(object interface{}) { step("deleted " + shown(object)) },
	}
	maps, deployments := factory.Core().V1().ConfigMaps(), factory.Apps().V1().Deployments()
	_, err = maps.Informer().AddEventHandler(handler)
	must(err, "adding a handler")
	_, err = deployments.Informer().AddEventHandler(handler)
	must(err, "adding a handler")
	stop := make(chan struct{})
	factory.Start(stop)
	for kind, synced := range factory.WaitForCacheSync(stop) {
		expect(synced, "the cache of %v does not fill", kind)
	}
	step("the caches are filled")
	<-ended
	held, err := maps.Lister().ConfigMaps("default").Get("the-end")
	must(err, "the lister")
	equal(held.Data, map[string]string{"colour": "black"}, "what the lister holds")
	_, err = maps.Lister().ConfigMaps("default").Get("first")
	expect(err != nil, "the lister holds what the restarted member does not have")
	close(stop)
	step("done")
}
