#include "services/interpreter/lua/vm.h"

#include <algorithm>
#include <map>
#include <set>

#include <lua.hpp>

#include "services/interpreter/lua/context.h"

namespace shiplog::interpreter::lua {
namespace {

constexpr size_t kLargeBlock = 16384;  // bytes
// Bytes for which an instruction costs one step more. A string is traversed by comparison and concatenation, the stack
// by variable arguments, a list only by rare instructions.
constexpr size_t kStringUnit = 4096;
constexpr size_t kStackUnit = 1024;
constexpr size_t kListUnit = 16384;
constexpr int64_t kAllocation = 4;  // steps
constexpr const char* kChunk = "=luaScript";
constexpr size_t kMostCompiled = 256;  // number of compiled scripts that are cached
constexpr char kBinaryMark = '\033';   // the first byte of compiled Lua
constexpr size_t kLongestMessage = 1024;
// Lua 5.1 creates a stack with this many values, which it only ever replaces by larger or smaller ones.
constexpr size_t kFirstStack = 45 * 16;

/// The additional cost of an instruction, which cannot be observed from outside: comparing two long strings takes as
/// long as thousands of other instructions. So each instruction costs more while there are long strings.
int64_t burden(const LuaContext& context) {
  return static_cast<int64_t>(context.string_bytes / kStringUnit + context.stack_bytes / kStackUnit +
                              context.list_bytes / kListUnit);
}

void hook(lua_State* state, lua_Debug* /*where*/) {
  const LuaContext& context = context_of(state);
  charge(state, context.hook_every * (1 + burden(context)));
}

/// Checks more often while instructions are slow. Never less often again: setting the hook restarts its count.
void adjust_hook(LuaContext& context) {
  const auto wanted = static_cast<int>(std::max<int64_t>(1, kHookEvery / (1 + burden(context))));
  if (context.state == nullptr || context.exhausted || wanted * 2 > context.hook_every) return;
  context.hook_every = wanted;
  lua_sethook(context.state, hook, LUA_MASKCOUNT, wanted);
}

/// Adds a block to the counts.
void count_in(LuaContext& context, const void* block, size_t size, bool is_new) {
  if (block == context.stack) {
    context.stack_bytes += size;
  } else if (size >= kLargeBlock && is_new && !context.pushing_table) {
    context.string_bytes += size;
    context.strings.insert(block);
  } else if (size >= kLargeBlock) {
    context.list_bytes += size;
  }
}

void count_out(LuaContext& context, const void* block, size_t size) {
  if (block == context.stack) {
    context.stack_bytes -= size;
  } else if (size >= kLargeBlock && context.strings.erase(block) > 0) {
    context.string_bytes -= size;
  } else if (size >= kLargeBlock) {
    context.list_bytes -= size;
  }
}

/// Allocates from the arena, with a limit. Growing a block costs steps too, because no instruction counts the copying.
void* allocate(void* user, void* block, size_t old_size, size_t new_size) {
  auto& context = *static_cast<LuaContext*>(user);
  if (new_size == 0) {
    if (block != nullptr) count_out(context, block, old_size);
    context.arena.release(block, old_size);
    context.bytes -= old_size;
    return nullptr;
  }
  if (new_size > old_size) {
    context.steps -= kAllocation + static_cast<int64_t>(new_size / 64);
    if (context.bytes + (new_size - old_size) > kMostBytes) {
      context.out_of_memory = true;
      return nullptr;
    }
  }
  void* grown = context.arena.resize(block, old_size, new_size);
  if (grown == nullptr) return nullptr;
  context.bytes += new_size - old_size;
  const bool is_new = block == nullptr;
  const bool is_stack = is_new ? context.stack == nullptr && new_size == kFirstStack : block == context.stack;
  if (!is_new) count_out(context, block, old_size);
  if (is_stack) context.stack = grown;
  count_in(context, grown, new_size, is_new);
  adjust_hook(context);
  return grown;
}

/// The input and output of the protected part.
struct Job {
  const Call* call = nullptr;
  std::string_view code;  // the script's text or its compiled form
  std::vector<Value> results;
};

int write_code(lua_State* /*state*/, const void* bytes, size_t size, void* user) {
  static_cast<std::string*>(user)->append(static_cast<const char*>(bytes), size);
  return 0;
}

/// Compiled scripts by their text. The text determines the compiled form, so this does not affect results. Per thread.
std::map<std::string, std::string, std::less<>>& compiled() {
  thread_local std::map<std::string, std::string, std::less<>> cache;
  return cache;
}

void load(lua_State* state, std::string_view code) {
  charge(state, static_cast<int64_t>(code.size() / 8));
  if (luaL_loadbuffer(state, code.data(), code.size(), kChunk) != 0) lua_error(state);
}

void open_libraries(lua_State* state) {
  open_base(state);
  open_table(state);
  open_string(state);
  open_math(state);
  open_os(state);
}

int run_protected(lua_State* state) {
  Job& job = *static_cast<Job*>(lua_touserdata(state, 1));
  const Call& call = *job.call;
  lua_settop(state, 0);
  open_libraries(state);
  load(state, job.code);
  LuaContext& context = context_of(state);
  context.state = state;
  lua_sethook(state, hook, LUA_MASKCOUNT, context.hook_every);
  adjust_hook(context);
  lua_call(state, 0, 0);
  lua_getglobal(state, call.function);
  if (lua_isnil(state, -1)) return luaL_error(state, "not found function %s", call.function);
  if (!lua_isfunction(state, -1)) {
    return luaL_error(state, "%s is not a function but a %s", call.function, luaL_typename(state, -1));
  }
  luaL_checkstack(state, static_cast<int>(call.arguments.size() + call.results), "too many arguments");
  for (const Value& argument : call.arguments) push(state, argument);
  lua_call(state, static_cast<int>(call.arguments.size()), static_cast<int>(call.results));
  const int first = lua_gettop(state) - static_cast<int>(call.results) + 1;
  for (size_t index = 0; index < call.results; ++index) {
    job.results.push_back(pull(state, first + static_cast<int>(index)));
  }
  return 0;
}

int compile_protected(lua_State* state) {
  auto& code = *static_cast<std::string*>(lua_touserdata(state, 1));
  load(state, code);
  code.clear();
  lua_dump(state, write_code, &code);
  return 0;
}

/// Messages appear in conditions and Events, so they must be short; truncated at whole characters.
std::string shortened(std::string text) {
  if (text.size() <= kLongestMessage) return text;
  size_t end = kLongestMessage;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) --end;
  text.resize(end);
  return text + " ...";
}

/// The error that a protected part has left on the stack.
Error error_of(lua_State* state, const LuaContext& context) {
  const char* text = lua_tostring(state, -1);
  if (context.exhausted) {
    return {ErrorCode::kTooLarge, text != nullptr ? shortened(text) : "the script has run for too long"};
  }
  if (context.out_of_memory) return {ErrorCode::kTooLarge, "the script holds more than 64 MiB"};
  if (text != nullptr) return {ErrorCode::kInvalid, shortened(text)};
  return {ErrorCode::kInvalid, std::string{"the script failed with a "} + luaL_typename(state, -1)};
}

Result<void> guarded(LuaContext& context, lua_CFunction body, void* with) {
  // Never closed: it holds only memory of the arena.
  lua_State* state = lua_newstate(allocate, &context);
  if (state == nullptr) return Error{ErrorCode::kInternal, "Lua could not be started: no memory"};
  const int status = lua_cpcall(state, body, with);
  if (status == 0) return ok();
  if (status < 0) return Error{ErrorCode::kInternal, "a C++ exception in the Lua environment"};
  return error_of(state, context);
}

/// After an error: the limit that led to it.
void report_limit(const LuaContext& context, Limit* exceeded) {
  if (exceeded == nullptr) return;
  *exceeded = context.exhausted ? Limit::kSteps : context.out_of_memory ? Limit::kMemory : Limit::kNone;
}

Result<std::string> compile(std::string_view script, Limit* exceeded = nullptr) {
  // Lua does not verify compiled code on loading, so only code compiled by this program is loaded.
  if (script.size() > kLongestScript) {
    return Error{ErrorCode::kInvalid, "the script is longer than " + std::to_string(kLongestScript) + " bytes"};
  }
  if (script.starts_with(kBinaryMark)) return Error{ErrorCode::kInvalid, "the script is compiled code, not text"};
  LuaContext context;
  context.steps = kMostSteps;
  std::string code{script};
  const auto ended = guarded(context, compile_protected, &code);
  if (ended) return code;
  report_limit(context, exceeded);
  return ended.error();
}

}  // namespace

LuaContext& context_of(lua_State* state) {
  void* user = nullptr;
  lua_getallocf(state, &user);
  return *static_cast<LuaContext*>(user);
}

void charge(lua_State* state, int64_t steps) {
  LuaContext& context = context_of(state);
  context.steps -= steps;
  if (context.steps >= 0) return;
  // From here on every instruction raises, so that no pcall of the script can continue.
  context.exhausted = true;
  lua_sethook(state, hook, LUA_MASKCOUNT, 1);
  luaL_error(state, "stopped: it has run for more than %d steps", static_cast<int>(kMostSteps));
}

void charge_hash(lua_State* state, std::string_view text) {
  constexpr size_t kHashedWhole = 32;
  if (text.size() < kHashedWhole) return;
  auto hash = static_cast<uint32_t>(text.size());  // as luaS_newlstr
  const size_t step = (text.size() >> 5U) + 1;
  for (size_t at = text.size(); at >= step; at -= step) {
    hash ^= (hash << 5U) + (hash >> 2U) + static_cast<unsigned char>(text[at - 1]);
  }
  std::set<Hash128>& alike = context_of(state).hashes[hash];
  alike.insert(siphash128(text));
  charge(state, static_cast<int64_t>(alike.size()) - 1);
}

Result<void> check(std::string_view script) {
  SHIPLOG_TRY(compile(script));
  return ok();
}

Result<std::vector<Value>> run(const Call& call) {
  auto& cache = compiled();
  auto known = cache.find(call.script);
  if (known == cache.end()) {
    SHIPLOG_TRY(auto code, compile(call.script, call.exceeded));
    if (cache.size() >= kMostCompiled) cache.clear();
    known = cache.emplace(std::string{call.script}, std::move(code)).first;
  }
  LuaContext context;
  context.steps = kMostSteps;
  context.now = call.now;
  context.priority_class = call.priority_class;
  context.shapes = call.shapes;
  Job job{&call, known->second, {}};
  const auto ended = guarded(context, run_protected, &job);
  if (call.asked_time != nullptr) *call.asked_time = context.asked_time;
  if (ended) return std::move(job.results);
  report_limit(context, call.exceeded);
  return ended.error();
}

}  // namespace shiplog::interpreter::lua
