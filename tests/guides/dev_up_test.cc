// ./dev up supervises the processes that it has started.
#include <gtest/gtest.h>

#include "tests/guides/clone.h"

namespace shiplog::guides {
namespace {

const std::string kUp = R"sh(
echo './dev up --members=1' >up
background "==> running;" up
export KUBECONFIG=$root/.fleet/shiplog.kubeconfig
reported() { until grep -qE "$1" up.out; do sleep 0.1; done; }
)sh";

TEST(DevUp, AKilledProcessIsRestartedAndReported) {
  Clone clone;
  const e2e::Ran ran = clone.run(kUp + R"sh(
plane=$(cat .fleet/run/shiplog.pid)
kill -9 "$plane"
reported "^==> shiplog \(pid $plane\) ended with signal KILL; restarted as pid [0-9]+"
until kubectl get --raw /readyz; do sleep 0.1; done
kubectl scale deployment nginx --replicas=9
kubectl wait --for=jsonpath='{.status.readyReplicas}'=9 deployment/nginx --timeout=60s

member=$(cat .fleet/run/member1.pid)
kill -9 "$member"
reported "^==> member1 \(pid $member\) ended with signal KILL; restarted as pid [0-9]+"
# It restarts without its objects, at the same address: the control plane applies them again.
until kubectl --kubeconfig=.fleet/member1.kubeconfig wait deployment/nginx --timeout=60s \
  --for=jsonpath='{.status.readyReplicas}'=9; do sleep 0.1; done

kill -TERM -- "-$background_pid"
while [ -e .fleet/run ]; do sleep 0.1; done
reported "^==> stopping the fleet"
echo done
)sh");
  EXPECT_TRUE(ran.ok() && ran.says("done")) << ran;
}

TEST(DevUp, AProcessThatKeepsEndingEndsTheFleetWithAnErrorThatNamesItsLog) {
  Clone clone;
  const e2e::Ran ran = clone.run(kUp + R"sh(
echo damaged >.fleet/member1/pki/ca.crt
kill -9 "$(cat .fleet/run/member1.pid)"
status=0
wait "$background_pid" || status=$?
[ $status = 1 ]
tail -n 8 up.out
echo done
)sh");
  EXPECT_TRUE(ran.ok() && ran.says("done")) << ran;
  EXPECT_TRUE(ran.says("dev: member1 ended 5 times, the last time with exit code 1")) << ran;
  EXPECT_TRUE(ran.says("/.fleet/log/member1.log")) << ran;
  EXPECT_TRUE(ran.says("pki/ca")) << "the end of the log\n" << ran;
}

}  // namespace
}  // namespace shiplog::guides
