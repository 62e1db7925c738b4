package main

import (
	"strings"

	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// at makes a client of the fleet as it was: the address of the server has a path more, and nothing else is different.
func (d *day) at(moment string) kubernetes.Interface {
	config := rest.CopyConfig(d.protobuf)
	config.Host = strings.TrimSuffix(config.Host, "/") + "/at/" + moment
	past, err := kubernetes.NewForConfig(config)
	must(err, "making a client of the past")
	return past
}

// past reads objects that are gone, and has a shared informer replay what became of them.
func (d *day) past() {
	step("the past: get and list what is gone, an informer that replays, refused writes")
	maps := d.typed.CoreV1().ConfigMaps(namespace)
	made, err := maps.Create(d.ctx, configMap("bygone", map[string]string{"colour": "red"}), meta.CreateOptions{})
	must(err, "creating")
	moment := "r" + made.ResourceVersion
	changed := made.DeepCopy()
	changed.Data = map[string]string{"colour": "blue"}
	_, err = maps.Update(d.ctx, changed, meta.UpdateOptions{})
	must(err, "updating")
	must(maps.Delete(d.ctx, "bygone", meta.DeleteOptions{}), "deleting")

	past := d.at(moment)
	then, err := past.CoreV1().ConfigMaps(namespace).Get(d.ctx, "bygone", meta.GetOptions{})
	must(err, "getting from the past")
	equal(then.Data, map[string]string{"colour": "red"}, "what it held then")
	list, err := past.CoreV1().ConfigMaps(namespace).List(d.ctx, meta.ListOptions{})
	must(err, "listing the past")
	found := false
	for _, item := range list.Items {
		found = found || item.Name == "bygone"
	}
	expect(found, "what is gone is not in the list of the past")
	groups, err := past.Discovery().ServerGroups()
	must(err, "discovery of the past")
	expect(len(groups.Groups) > 5, "there are only %d groups", len(groups.Groups))

	readOnly := func(err error) bool {
		return apierrors.IsMethodNotSupported(err) && strings.Contains(err.Error(), "is the past, which is read-only")
	}
	_, err = past.CoreV1().ConfigMaps(namespace).Create(d.ctx, configMap("late", nil), meta.CreateOptions{})
	refused(err, readOnly, "creating in the past")
	_, err = past.CoreV1().ConfigMaps(namespace).Update(d.ctx, then, meta.UpdateOptions{})
	refused(err, readOnly, "updating the past")
	refused(past.CoreV1().ConfigMaps(namespace).Delete(d.ctx, "bygone", meta.DeleteOptions{}), readOnly, "deleting from the past")

	// The informer lists the moment; then its watch replays what followed, as fast as it reads.
	factory := informers.NewSharedInformerFactoryWithOptions(d.at(moment+",speed=max"), 0, informers.WithNamespace(namespace))
	informer := factory.Core().V1().ConfigMaps()
	events := &seen{added: map[string]int{}, updated: map[string]int{}, deleted: map[string]int{}}
	colours := make(chan string, 100)
	_, err = informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(object interface{}) {
			if held := object.(*core.ConfigMap); held.Name == "bygone" {
				colours <- held.Data["colour"]
			}
			events.note(events.added, object)
		},
		UpdateFunc: func(_, object interface{}) {
			if held := object.(*core.ConfigMap); held.Name == "bygone" {
				colours <- held.Data["colour"]
			}
			events.note(events.updated, object)
		},
		DeleteFunc: func(object interface{}) { events.note(events.deleted, object) },
	})
	must(err, "adding a handler")
	stop := make(chan struct{})
	defer close(stop)
	factory.Start(stop)
	expect(cache.WaitForCacheSync(stop, informer.Informer().HasSynced), "the cache of the past does not fill")
	eventually("the deletion is replayed", func() bool { return events.count(events.deleted, "bygone") == 1 })
	equal(events.count(events.added, "bygone"), 1, "how often it was added")
	equal(<-colours, "red", "the colour that was listed")
	equal(<-colours, "blue", "the colour that was replayed")

	// At the present the watch continues as an ordinary one.
	_, err = maps.Create(d.ctx, configMap("present", nil), meta.CreateOptions{})
	must(err, "creating")
	eventually("the informer has reached the present", func() bool { return events.count(events.added, "present") == 1 })
	must(maps.Delete(d.ctx, "present", meta.DeleteOptions{}), "deleting")
}
