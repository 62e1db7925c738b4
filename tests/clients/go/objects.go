package main

import (
	"fmt"

	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	applycore "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/util/retry"
)

func configMap(name string, data map[string]string) *core.ConfigMap {
	return &core.ConfigMap{ObjectMeta: meta.ObjectMeta{Name: name}, Data: data}
}

func (d *day) objects() {
	maps := d.typed.CoreV1().ConfigMaps(namespace)
	step("typed objects by protobuf: create, get, update, conflict, pages, patches, dry run, delete")
	made, err := maps.Create(d.ctx, configMap("one", map[string]string{"colour": "red"}), meta.CreateOptions{})
	must(err, "creating a ConfigMap")
	expect(made.UID != "" && made.ResourceVersion != "" && !made.CreationTimestamp.IsZero(), "it has no identity: %v", made)
	_, err = maps.Create(d.ctx, configMap("one", nil), meta.CreateOptions{})
	refused(err, apierrors.IsAlreadyExists, "a twin")
	_, err = maps.Get(d.ctx, "none", meta.GetOptions{})
	refused(err, apierrors.IsNotFound, "getting nothing")
	_, err = maps.Create(d.ctx, configMap("Not A Name", nil), meta.CreateOptions{})
	refused(err, apierrors.IsInvalid, "a bad name")

	first := made.DeepCopy()
	first.Data["colour"] = "blue"
	_, err = maps.Update(d.ctx, first, meta.UpdateOptions{})
	must(err, "updating")
	second := made.DeepCopy()
	second.Data["size"] = "3"
	_, err = maps.Update(d.ctx, second, meta.UpdateOptions{})
	refused(err, apierrors.IsConflict, "an update of what has moved on")
	must(retry.RetryOnConflict(retry.DefaultRetry, func() error {
		current, err := maps.Get(d.ctx, "one", meta.GetOptions{})
		if err != nil {
			return err
		}
		current.Data["size"] = "3"
		_, err = maps.Update(d.ctx, current, meta.UpdateOptions{})
		return err
	}), "an update that is tried again")
	current, err := maps.Get(d.ctx, "one", meta.GetOptions{})
	must(err, "getting")
	equal(current.Data, map[string]string{"colour": "blue", "size": "3"}, "the data")

	for i := 0; i < 5; i++ {
		page := configMap(fmt.Sprintf("page-%d", i), nil)
		page.Labels = map[string]string{"book": "yes"}
		page.BinaryData = map[string][]byte{"bytes": {0, 255, byte(i)}}
		_, err = maps.Create(d.ctx, page, meta.CreateOptions{})
		must(err, "creating a page")
	}
	seen, options := 0, meta.ListOptions{LabelSelector: "book=yes", Limit: 2}
	for {
		list, err := maps.List(d.ctx, options)
		must(err, "listing a page")
		for _, item := range list.Items {
			equal(item.BinaryData["bytes"][1], byte(255), "a byte")
		}
		seen += len(list.Items)
		if options.Continue = list.Continue; options.Continue == "" {
			break
		}
	}
	equal(seen, 5, "the number of pages")

	for kind, patch := range map[types.PatchType]string{
		types.JSONPatchType:           `[{"op":"add","path":"/data/json","value":"1"}]`,
		types.MergePatchType:          `{"data":{"merge":"1"}}`,
		types.StrategicMergePatchType: `{"data":{"strategic":"1"}}`,
	} {
		_, err = maps.Patch(d.ctx, "one", kind, []byte(patch), meta.PatchOptions{})
		must(err, string(kind))
	}
	current, err = maps.Get(d.ctx, "one", meta.GetOptions{})
	must(err, "getting")
	equal(len(current.Data), 5, "the number of data after three patches")

	_, err = maps.Create(d.ctx, configMap("dry", nil), meta.CreateOptions{DryRun: []string{meta.DryRunAll}})
	must(err, "a dry run")
	_, err = maps.Get(d.ctx, "dry", meta.GetOptions{})
	refused(err, apierrors.IsNotFound, "getting what was a dry run")
	stale := meta.NewUIDPreconditions("no-such-uid")
	refused(maps.Delete(d.ctx, "one", meta.DeleteOptions{Preconditions: stale}), apierrors.IsConflict, "a delete of another uid")
	must(maps.DeleteCollection(d.ctx, meta.DeleteOptions{}, meta.ListOptions{LabelSelector: "book"}), "deleting the pages")
	left, err := maps.List(d.ctx, meta.ListOptions{LabelSelector: "book"})
	must(err, "listing")
	equal(len(left.Items), 0, "the number of pages left")

	step("secrets, service accounts, a token review")
	secrets := d.typed.CoreV1().Secrets(namespace)
	secret, err := secrets.Create(d.ctx, &core.Secret{ObjectMeta: meta.ObjectMeta{GenerateName: "key-"},
		StringData: map[string]string{"password": "hunter2"}}, meta.CreateOptions{})
	must(err, "creating a secret")
	equal(string(secret.Data["password"]), "hunter2", "the password")
	equal(secret.Type, core.SecretTypeOpaque, "the type of the secret")
	must(secrets.Delete(d.ctx, secret.Name, meta.DeleteOptions{}), "deleting the secret")
	d.token()
}

func (d *day) applies() {
	step("typed server-side apply, twice, by two managers: a conflict, force")
	maps := d.typed.CoreV1().ConfigMaps(namespace)
	apply := func(data map[string]string, manager string, force bool) (*core.ConfigMap, error) {
		return maps.Apply(d.ctx, applycore.ConfigMap("shared", namespace).WithData(data),
			meta.ApplyOptions{FieldManager: manager, Force: force})
	}
	first, err := apply(map[string]string{"colour": "red", "size": "3"}, "painter", false)
	must(err, "the first apply")
	again, err := apply(map[string]string{"colour": "red", "size": "3"}, "painter", false)
	must(err, "the same apply")
	equal(again.ResourceVersion, first.ResourceVersion, "the version after the same apply again")
	_, err = apply(map[string]string{"colour": "blue"}, "sculptor", false)
	refused(err, apierrors.IsConflict, "taking another manager's field")
	taken, err := apply(map[string]string{"colour": "blue"}, "sculptor", true)
	must(err, "taking it by force")
	equal(taken.Data, map[string]string{"colour": "blue", "size": "3"}, "the data after force")
	left, err := apply(nil, "painter", false)
	must(err, "giving up fields")
	equal(left.Data, map[string]string{"colour": "blue"}, "the data once the painter gave up its fields")
	extracted, err := applycore.ExtractConfigMap(left, "sculptor")
	must(err, "extracting what the sculptor owns")
	equal(extracted.Data, map[string]string{"colour": "blue"}, "what the sculptor owns")
}

func (d *day) cascades() {
	maps := d.typed.CoreV1().ConfigMaps(namespace)
	for _, policy := range []meta.DeletionPropagation{meta.DeletePropagationBackground, meta.DeletePropagationForeground,
		meta.DeletePropagationOrphan} {
		step("a delete with propagation " + string(policy) + ", and what it means for a dependent")
		owner, err := maps.Create(d.ctx, &core.ConfigMap{ObjectMeta: meta.ObjectMeta{GenerateName: "owner-"}}, meta.CreateOptions{})
		must(err, "creating an owner")
		child := &core.ConfigMap{ObjectMeta: meta.ObjectMeta{GenerateName: "child-", OwnerReferences: []meta.OwnerReference{
			*meta.NewControllerRef(owner, core.SchemeGroupVersion.WithKind("ConfigMap"))}}}
		child, err = maps.Create(d.ctx, child, meta.CreateOptions{})
		must(err, "creating a dependent")
		kept := policy
		must(maps.Delete(d.ctx, owner.Name, meta.DeleteOptions{PropagationPolicy: &kept}), "deleting the owner")
		gone := func(name string) func() bool {
			return func() bool {
				_, err := maps.Get(d.ctx, name, meta.GetOptions{})
				return apierrors.IsNotFound(err)
			}
		}
		eventually("the owner is gone", gone(owner.Name))
		if policy == meta.DeletePropagationOrphan {
			orphan, err := maps.Get(d.ctx, child.Name, meta.GetOptions{})
			must(err, "getting the orphan")
			equal(len(orphan.OwnerReferences), 0, "the number of the orphan's owners")
		} else if policy == meta.DeletePropagationForeground {
			expect(gone(child.Name)(), "the owner went before its dependent")
		} else {
			eventually("the dependent is gone", gone(child.Name))
		}
	}
}
