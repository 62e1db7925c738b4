// health reads Kubernetes objects as JSON, one after another or in lists, from standard input, and prints Argo CD's health
// of each: "Deployment web Healthy", followed by a message if it is not empty. For a kind without a health check it prints
// "ConfigMap settings -".
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/argoproj/argo-cd/gitops-engine/pkg/health"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func report(content map[string]interface{}) error {
	if items, isList := content["items"].([]interface{}); isList {
		for _, item := range items {
			if object, isObject := item.(map[string]interface{}); isObject {
				if err := report(object); err != nil {
					return err
				}
			}
		}
		return nil
	}
	object := &unstructured.Unstructured{Object: content}
	status, err := health.GetResourceHealth(object, nil)
	if err != nil {
		return fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
	}
	word, message := "-", ""
	if status != nil {
		word, message = string(status.Status), " "+status.Message
	}
	fmt.Printf("%s %s %s%s\n", object.GetKind(), object.GetName(), word, message)
	return nil
}

func main() {
	decoder := json.NewDecoder(os.Stdin)
	for {
		var content map[string]interface{}
		err := decoder.Decode(&content)
		if errors.Is(err, io.EOF) {
			return
		}
		if err == nil {
			err = report(content)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "health:", err)
			os.Exit(1)
		}
	}
}
