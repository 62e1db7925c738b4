//go:build earlier

// Code that differs for the libraries of earlier.mod, which old controllers use.
package main

import (
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
)

func managerOptions() ctrl.Options {
	return ctrl.Options{MetricsBindAddress: "0", Namespace: namespace}
}

func (d *day) today() {
	step("(these libraries know no streaming lists, no CBOR and no apply of controller-runtime)")
}

func (d *day) listsAreStreams(*rest.Config) func() { return func() {} }
