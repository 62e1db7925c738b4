#include "services/programs/member/shell/shell.h"

#include <exception>
#include <optional>

#include <boost/asio/co_spawn.hpp>
#include <gmock/gmock.h>

#include "events/base/json.h"
#include "services/api/pipeline/async.h"
#include "services/programs/member/shell/container_image.h"
#include "services/programs/member/shell/terminal.h"

namespace shiplog::member {
namespace {

using ::testing::HasSubstr;

struct ShellClock final : Clock {
  UtcMillis now() const override { return {1'700'000'000'000}; }
};

const char* kShellPod = R"({
  "metadata": {"name": "web-0", "namespace": "shop", "uid": "u1", "labels": {"app": "web"}},
  "spec": {"nodeName": "n1", "containers": [{
    "name": "main", "image": "nginx", "workingDir": "/srv",
    "env": [{"name": "A", "value": "one"}, {"name": "B", "value": "$(A)-two"},
            {"name": "MAP", "valueFrom": {"configMapKeyRef": {"name": "cm", "key": "k"}}},
            {"name": "SECRET", "valueFrom": {"secretKeyRef": {"name": "s", "key": "p"}}},
            {"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
            {"name": "APP", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['app']"}}}],
    "envFrom": [{"prefix": "X_", "configMapRef": {"name": "cm"}}],
    "volumeMounts": [{"name": "v", "mountPath": "/etc/cm"}, {"name": "s", "mountPath": "/etc/s"},
                     {"name": "e", "mountPath": "/data"}]}],
    "volumes": [{"name": "v", "configMap": {"name": "cm"}}, {"name": "s", "secret": {"secretName": "s"}},
                {"name": "e", "emptyDir": {}}]}})";

Value parsed(const char* text) { return parse_json(text).value(); }

Value find_object(const char* type, const std::string& name) {
  if (std::string_view{type} == "configmaps" && name == "cm") {
    return parsed(R"({"kind": "ConfigMap", "data": {"k": "from map", "../evil": "x"}})");
  }
  if (std::string_view{type} == "secrets" && name == "s")
    return parsed(R"({"kind": "Secret", "data": {"p": "cGFzcw=="}})");
  return {};
}

/// A container, in which commands run at once.
class ShellTest : public ::testing::Test {
 protected:
  ShellTest() {
    host.clock = &clock;
    host.memory = std::make_shared<ByteBudget>(16 << 20);
    host.sleep = [](Millis) -> awaitable<void> { co_return; };
    host.stopped = [] { return false; };
  }

  int run(const std::string& script, const std::string& input = {}) {
    output = std::make_shared<TextOutput>(host.memory);
    errors = std::make_shared<TextOutput>(host.memory);
    Shell shell{shell_container(pod, container, find_object), files, host};
    std::optional<int> code;
    const Streams streams{std::make_shared<TextInput>(input), output, errors};
    boost::asio::co_spawn(
        api::inline_executor(), [&]() -> awaitable<int> { return shell.run_script(script, streams); },
        [&](const std::exception_ptr& failure, int done) {
          EXPECT_EQ(failure, nullptr);
          code = done;
        });
    EXPECT_TRUE(code) << "the script waits for something";
    out = output->take();
    err = errors->take();
    return code.value_or(-1);
  }

  ShellClock clock;
  ShellHost host;
  Value pod = parsed(kShellPod);
  const Value& container = container_of(pod, "main");
  std::shared_ptr<size_t> total = std::make_shared<size_t>(0);
  std::shared_ptr<WrittenFiles> written = std::make_shared<WrittenFiles>(total, 64 << 20);
  FileSystem files{image_of(pod, container, find_object), written};
  std::shared_ptr<TextOutput> output, errors;
  std::string out, err;
};

TEST_F(ShellTest, RunsListsPipelinesAndRedirections) {
  EXPECT_EQ(run("echo one; false || echo two && echo 'th  ree' | cat"), 0);
  EXPECT_EQ(out, "one\ntwo\nth  ree\n");
  EXPECT_EQ(run("echo a > /tmp/f; echo b >> /tmp/f; cat < /tmp/f | wc -l"), 0);
  EXPECT_EQ(out, "2\n");
  EXPECT_EQ(run("nope 2>&1; ls /none 2> /dev/null; echo $?"), 0);
  EXPECT_EQ(out, "sh: nope: not found\n1\n");
  EXPECT_EQ(err, "");
}

TEST_F(ShellTest, ExpandsVariablesAndCommands) {
  run(R"(echo "$A" $B '$A' ${NONE:-fallback} "$MAP" $MAP; V="a  b"; echo $V "$V"; echo $(echo $(hostname)))");
  EXPECT_EQ(out, "one one-two $A fallback from map from map\na b a  b\nweb-0\n");
  run("echo problem >&2");
  EXPECT_EQ(err, "problem\n");
  run("X=1 env | grep X=; echo [$X]; export Y=2; env | grep Y=");
  EXPECT_EQ(out, "X=1\n[]\nY=2\n");
}

TEST_F(ShellTest, KnowsTheEnvironmentOfTheContainer) {
  run("echo $SECRET $POD $APP $X_k; pwd; hostname; printenv HOSTNAME; cat /etc/hostname");
  EXPECT_EQ(out, "pass web-0 web from map\n/srv\nweb-0\nweb-0\nweb-0\n");
}

TEST_F(ShellTest, MountsConfigMapsAndSecretsReadOnly) {
  EXPECT_EQ(run("cat /etc/cm/k; cat /etc/s/p; ls /etc/cm"), 0);
  EXPECT_EQ(out, "from mappassk\n") << "and no key leads out of the volume";
  EXPECT_NE(run("echo x > /etc/cm/k"), 0);
  EXPECT_THAT(err, HasSubstr("Read-only file system"));
  EXPECT_NE(run("rm /etc/s/p"), 0);
  EXPECT_EQ(run("echo x > /data/f; cat /data/f"), 0);
  EXPECT_EQ(out, "x\n");
}

TEST_F(ShellTest, ExitCodesAreThoseOfAShell) {
  EXPECT_EQ(run("exit 3; echo never"), 3);
  EXPECT_EQ(out, "");
  EXPECT_EQ(run("sh -c 'exit 4'; echo $?"), 0);
  EXPECT_EQ(out, "4\n");
  EXPECT_EQ(run("nope"), 127);
  EXPECT_EQ(run("! true"), 1);
  EXPECT_EQ(run("test -d /tmp && [ -f /etc/hosts ]"), 0);
  EXPECT_EQ(run("echo 'open"), 2);
  EXPECT_EQ(run("exit 256"), 0);
}

TEST_F(ShellTest, WhatItDoesNotKnowIsAnErrorThatNamesIt) {
  for (const char* script :
       {"for x in a; do echo; done", "sleep 1 &", "(echo)", "cat <<E", "echo `date`", "echo $((1+1))"}) {
    EXPECT_EQ(run(script), 2) << script;
    EXPECT_THAT(err, HasSubstr("syntax error")) << script;
  }
}

TEST_F(ShellTest, CommandsReadTheirInput) {
  EXPECT_EQ(run("cat", "from the client"), 0);
  EXPECT_EQ(out, "from the client");
  EXPECT_EQ(run("tee /tmp/t | wc -c; cat /tmp/t", "12345"), 0);
  EXPECT_EQ(out, "5\n12345");
  EXPECT_EQ(run("sh", "echo a\nexit 5\necho b\n"), 5);
  EXPECT_EQ(out, "a\n");
  EXPECT_EQ(run("tail -n 2", "1\n2\n3\n"), 0);
  EXPECT_EQ(out, "2\n3\n");
  EXPECT_EQ(run("tail -c+3; head -n 1", "abcdef"), 0);
  EXPECT_EQ(out, "cdef");
}

TEST_F(ShellTest, TarPacksAndUnpacksAsKubectlCpDoes) {
  run("mkdir -p /tmp/d/sub; echo text > /tmp/d/sub/f; echo long > /tmp/d/" + std::string(150, 'n'));
  ASSERT_EQ(run("tar cf - /tmp/d"), 0) << err;
  const std::string archive = out;
  EXPECT_EQ(
      run("mkdir /tmp/e; tar -xmf - -C /tmp/e; cat /tmp/e/tmp/d/sub/f /tmp/e/tmp/d/" + std::string(150, 'n'), archive),
      0)
      << err;
  EXPECT_EQ(out, "text\nlong\n");
  EXPECT_EQ(run("tar xf - -C /tmp/e", archive.substr(0, 700)), 2) << "it is cut off";
  EXPECT_EQ(run("tar xf - -C /tmp/e", std::string(2000, 'x')), 2);
  EXPECT_EQ(run("tar xf - -C /none", archive), 2);
}

TEST_F(ShellTest, AnArchiveCannotLeaveItsFolder) {
  run("mkdir -p /tmp/d; echo text > /tmp/d/f");
  run("tar cf - -C / tmp/d/f");
  std::string archive = out;
  archive.replace(0, 9, "../../abc");  // the checksum is wrong now, so that this is corrected as well
  int sum = 0;
  for (size_t index = 0; index < 512; ++index)
    sum += index >= 148 && index < 156 ? ' ' : static_cast<unsigned char>(archive[index]);
  std::string digits(7, '0');
  for (size_t index = 7; index > 0; --index, sum /= 8) digits[index - 1] = static_cast<char>('0' + sum % 8);
  archive.replace(148, 7, digits);
  EXPECT_EQ(run("tar xf - -C /tmp", archive), 2);
  EXPECT_THAT(err, HasSubstr("'..'"));
}

TEST_F(ShellTest, FilesHaveABound) {
  const std::string megabyte(1 << 20, 'x');
  for (int count = 0; count < 7; ++count) ASSERT_EQ(run("cat >> /tmp/big", megabyte), 0);
  run("cat >> /tmp/big", megabyte);
  EXPECT_THAT(err, HasSubstr("No space left on device"));
  EXPECT_LE(*total, WrittenFiles::kMostBytes);
  EXPECT_EQ(run("rm /tmp/big; echo fits > /tmp/small"), 0);
  EXPECT_LT(*total, 10'000U);
}

TEST_F(ShellTest, VariablesAndPipesHaveABound) {
  std::string script = "A=0123456789;";
  for (int count = 0; count < 40; ++count) script += "A=$A$A;";
  run(script + "echo $A | wc -c");
  EXPECT_THAT(err, HasSubstr("Argument list too long"));
  for (int count = 0; count < 4; ++count) run("cat >> /tmp/big", std::string(1 << 20, 'x'));
  run("cat /tmp/big | wc -c");
  EXPECT_THAT(err, HasSubstr("cut off"));
  std::string nested = "echo deep";
  for (int count = 0; count < 30; ++count) nested = "echo $(" + nested + ")";
  run(nested);
  EXPECT_THAT(err, HasSubstr("nested too deeply"));
  std::string variables;
  for (int count = 0; count < 900; ++count) variables += "V" + std::to_string(count) + "=$B$B$B$B$B;";
  run("B=" + std::string(1000, 'x') + ";" + variables);
  EXPECT_THAT(err, HasSubstr("Argument list too long"));
}

TEST(TerminalTest, EchoesAndEditsLines) {
  LineDiscipline terminal;
  EXPECT_EQ(terminal.type("lx\x7fs\r"), "lx\b \bs\r\n");
  EXPECT_EQ(terminal.take(), "ls\n");
  EXPECT_EQ(terminal.type("abc\x03"), "abc^C\r\n");
  EXPECT_TRUE(terminal.take_interrupt());
  EXPECT_EQ(terminal.take(), "");
  terminal.type("\x04");
  EXPECT_TRUE(terminal.ended());
  EXPECT_EQ(LineDiscipline::shown("a\nb\n"), "a\r\nb\r\n");
}

TEST(ResolvedPath, StaysBelowTheRoot) {
  EXPECT_EQ(resolved_path("/a/b", "../c/./d//"), "/a/c/d");
  EXPECT_EQ(resolved_path("/", "../../.."), "/");
  EXPECT_EQ(resolved_path("/a", "/x/../y"), "/y");
}

}  // namespace
}  // namespace shiplog::member
