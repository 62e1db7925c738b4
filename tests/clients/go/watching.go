package main

import (
	"context"
	"sync"
	"time"

	authentication "k8s.io/api/authentication/v1"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// token requests a token of a service account, and has the server review it.
func (d *day) token() {
	accounts := d.typed.CoreV1().ServiceAccounts(namespace)
	_, err := accounts.Create(d.ctx, &core.ServiceAccount{ObjectMeta: meta.ObjectMeta{Name: "robot"}}, meta.CreateOptions{})
	must(err, "creating a service account")
	request, err := accounts.CreateToken(d.ctx, "robot", &authentication.TokenRequest{}, meta.CreateOptions{})
	must(err, "asking for a token")
	review, err := d.typed.AuthenticationV1().TokenReviews().Create(d.ctx, &authentication.TokenReview{
		Spec: authentication.TokenReviewSpec{Token: request.Status.Token}}, meta.CreateOptions{})
	must(err, "reviewing the token")
	equal(review.Status.User.Username, "system:serviceaccount:"+namespace+":robot", "who bears the token")
	robot := rest.AnonymousClientConfig(d.config)
	robot.BearerToken = request.Status.Token
	as, err := kubernetes.NewForConfig(robot)
	must(err, "making the robot's client")
	_, err = as.CoreV1().ConfigMaps(namespace).List(d.ctx, meta.ListOptions{})
	refused(err, func(err error) bool { return meta.StatusReasonForbidden == reason(err) }, "what the robot may not do")
}

// seen counts the events of an informer.
type seen struct {
	sync.Mutex
	added, updated, deleted map[string]int
}

func (s *seen) note(in map[string]int, object interface{}) {
	s.Lock()
	defer s.Unlock()
	if gone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = gone.Obj
	}
	in[object.(*core.ConfigMap).Name]++
}

func (s *seen) count(in map[string]int, name string) int {
	s.Lock()
	defer s.Unlock()
	return in[name]
}

func (d *day) informers() {
	step("a shared informer receives existing, created, changed and deleted objects")
	maps := d.typed.CoreV1().ConfigMaps(namespace)
	_, err := maps.Create(d.ctx, configMap("before", nil), meta.CreateOptions{})
	must(err, "creating")
	config := rest.CopyConfig(d.protobuf)
	streamed := d.listsAreStreams(config)
	typed, err := kubernetes.NewForConfig(config)
	must(err, "making the informers' client")
	factory := informers.NewSharedInformerFactoryWithOptions(typed, 0, informers.WithNamespace(namespace))
	informer := factory.Core().V1().ConfigMaps()
	events := &seen{added: map[string]int{}, updated: map[string]int{}, deleted: map[string]int{}}
	_, err = informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object interface{}) { events.note(events.added, object) },
		UpdateFunc: func(_, object interface{}) { events.note(events.updated, object) },
		DeleteFunc: func(object interface{}) { events.note(events.deleted, object) },
	})
	must(err, "adding a handler")
	deployments := factory.Apps().V1().Deployments().Informer()
	stop := make(chan struct{})
	defer close(stop)
	factory.Start(stop)
	expect(cache.WaitForCacheSync(stop, informer.Informer().HasSynced, deployments.HasSynced), "the caches do not fill")
	streamed()
	eventually("what was there is added", func() bool { return events.count(events.added, "before") == 1 })

	made, err := maps.Create(d.ctx, configMap("during", nil), meta.CreateOptions{})
	must(err, "creating")
	made.Data = map[string]string{"a": "b"}
	_, err = maps.Update(d.ctx, made, meta.UpdateOptions{})
	must(err, "updating")
	eventually("the change is seen", func() bool { return events.count(events.updated, "during") == 1 })
	held, err := informer.Lister().ConfigMaps(namespace).Get("during")
	must(err, "the lister")
	equal(held.Data, map[string]string{"a": "b"}, "what the lister holds")
	must(maps.Delete(d.ctx, "during", meta.DeleteOptions{}), "deleting")
	eventually("the deletion is seen", func() bool { return events.count(events.deleted, "during") == 1 })
	equal(events.count(events.added, "during"), 1, "how often it was added")
	listed, err := informer.Lister().List(labels.Everything())
	must(err, "the lister")
	list, err := maps.List(d.ctx, meta.ListOptions{})
	must(err, "listing")
	equal(len(listed), len(list.Items), "the number of objects in the informer's store")
}

func (d *day) elections() {
	step("leader election on a Lease: one leads, releases the lease, the other leads")
	elect := func(ctx context.Context, who string, led chan<- string) {
		lock := &resourcelock.LeaseLock{LeaseMeta: meta.ObjectMeta{Namespace: namespace, Name: "chair"},
			Client: d.typed.CoordinationV1(), LockConfig: resourcelock.ResourceLockConfig{Identity: who}}
		leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{Lock: lock, ReleaseOnCancel: true,
			LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 200 * time.Millisecond,
			Callbacks: leaderelection.LeaderCallbacks{OnStoppedLeading: func() {},
				OnStartedLeading: func(context.Context) { led <- who }}})
	}
	led := make(chan string, 2)
	first, resign := context.WithCancel(d.ctx)
	second, end := context.WithCancel(d.ctx)
	defer end()
	next := func(wanted string) {
		select {
		case who := <-led:
			equal(who, wanted, "who leads")
		case <-time.After(patience):
			fail("no leader within %v; it should be %s", patience, wanted)
		}
	}
	go elect(first, "ada", led)
	next("ada")
	go elect(second, "bob", led)
	eventually("ada renews her lease", func() bool {
		lease, err := d.typed.CoordinationV1().Leases(namespace).Get(d.ctx, "chair", meta.GetOptions{})
		must(err, "getting the lease")
		return *lease.Spec.HolderIdentity == "ada" && lease.Spec.RenewTime.After(lease.Spec.AcquireTime.Time)
	})
	resign()
	next("bob")
	lease, err := d.typed.CoordinationV1().Leases(namespace).Get(d.ctx, "chair", meta.GetOptions{})
	must(err, "getting the lease")
	expect(*lease.Spec.LeaseTransitions >= 1, "the lease does not count its transitions")
}
