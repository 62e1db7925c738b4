// A session with client-go (typed clients with protobuf, informers, leader election, the dynamic client) and
// controller-runtime, against the API server of $KUBECONFIG. Prints its checks, and ends with a message at the first one
// that fails. $MEMBER names a ready member. With the argument "proxied": informers of that member, see proxied.go.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"time"

	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	namespace = "go-day"
	patience  = time.Minute
)

type day struct {
	ctx      context.Context
	config   *rest.Config // JSON
	protobuf *rest.Config
	typed    kubernetes.Interface // by protobuf
	dynamic  dynamic.Interface
	member   string
}

func step(text string) { fmt.Println("go:", text) }

func fail(format string, arguments ...interface{}) {
	fmt.Printf("go: NOT AS EXPECTED: "+format+"\n", arguments...)
	os.Exit(1)
}

func must(err error, what string) {
	if err != nil {
		fail("%s fails: %v", what, err)
	}
}

func expect(holds bool, format string, arguments ...interface{}) {
	if !holds {
		fail(format, arguments...)
	}
}

func equal(found, wanted interface{}, what string) {
	if !reflect.DeepEqual(found, wanted) {
		fail("%s is %v instead of %v", what, found, wanted)
	}
}

func refused(err error, is func(error) bool, what string) {
	if err == nil {
		fail("%s is not refused", what)
	}
	if !is(err) {
		fail("%s is refused otherwise: %v", what, err)
	}
}

// eventually polls until the condition holds.
func eventually(what string, holds func() bool) {
	err := wait.PollImmediate(50*time.Millisecond, patience, func() (bool, error) { return holds(), nil })
	if err != nil {
		fail("%s: not within %v", what, patience)
	}
}

func asJSON(value interface{}) []byte {
	text, err := json.Marshal(value)
	must(err, "writing JSON")
	return text
}

func (d *day) discovery() {
	step("version, groups, preferred resources, OpenAPI")
	client := d.typed.Discovery()
	version, err := client.ServerVersion()
	must(err, "the version")
	equal(version.Major, "1", "the major version")
	_, lists, err := client.ServerGroupsAndResources()
	must(err, "groups and resources")
	kinds := map[string]bool{}
	for _, list := range lists {
		for _, resource := range list.APIResources {
			kinds[list.GroupVersion+"/"+resource.Kind] = true
		}
	}
	for _, kind := range []string{"v1/ConfigMap", "apps/v1/Deployment", "policy.karmada.io/v1alpha1/PropagationPolicy"} {
		expect(kinds[kind], "%s is not among the %d kinds", kind, len(kinds))
	}
	_, err = client.ServerPreferredResources()
	expect(err == nil || discovery.IsGroupDiscoveryFailedError(err), "the preferred resources: %v", err)
	document, err := client.OpenAPISchema()
	must(err, "the OpenAPI document (protobuf)")
	described := false
	for _, definition := range document.GetDefinitions().GetAdditionalProperties() {
		for _, extension := range definition.GetValue().GetVendorExtension() {
			described = described || extension.GetName() == "x-kubernetes-group-version-kind" &&
				strings.Contains(extension.GetValue().GetYaml(), "Deployment") && definition.Value.GetProperties() != nil
		}
	}
	expect(described, "the OpenAPI document does not describe Deployments")
	paths, err := client.OpenAPIV3().Paths()
	must(err, "the OpenAPI v3 paths")
	expect(paths["apis/apps/v1"] != nil, "OpenAPI v3 does not have apis/apps/v1")
}

func (d *day) theEnd() {
	step("the namespace is deleted with its content")
	must(d.typed.CoreV1().Namespaces().Delete(d.ctx, namespace, meta.DeleteOptions{}), "deleting the namespace")
	eventually("the namespace is gone", func() bool {
		_, err := d.typed.CoreV1().Namespaces().Get(d.ctx, namespace, meta.GetOptions{})
		return apierrors.IsNotFound(err)
	})
}

func main() {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	must(err, "reading the kubeconfig")
	config.QPS, config.Burst = 1000, 1000
	// Like the controllers of Kubernetes, and by default in recent clients.
	protobuf := rest.CopyConfig(config)
	protobuf.ContentType = "application/vnd.kubernetes.protobuf"
	protobuf.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"

	if len(os.Args) > 1 && os.Args[1] == "proxied" {
		proxied(protobuf, os.Getenv("MEMBER"))
		return
	}
	d := &day{ctx: context.Background(), config: config, protobuf: protobuf, member: os.Getenv("MEMBER")}
	d.typed, err = kubernetes.NewForConfig(protobuf)
	must(err, "making a typed client")
	d.dynamic, err = dynamic.NewForConfig(config)
	must(err, "making a dynamic client")

	d.discovery()
	step("a namespace")
	space := &core.Namespace{ObjectMeta: meta.ObjectMeta{Name: namespace}}
	space, err = d.typed.CoreV1().Namespaces().Create(d.ctx, space, meta.CreateOptions{})
	must(err, "creating a namespace")
	equal(space.Status.Phase, core.NamespaceActive, "the namespace's phase")
	d.objects()
	d.applies()
	d.informers()
	d.past()
	d.cascades()
	d.rollout()
	d.elections()
	d.recorders()
	d.today()
	d.definitions()
	d.controllers()
	d.theEnd()
	step("done")
}
