#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include <dlfcn.h>
#include <graphviz/gvc.h>

#include "services/programs/shiplogctl/effects.h"
#include "services/programs/shiplogctl/table.h"

namespace shiplog::ctl {
namespace {

/// Laying out takes more than linear time: so many are drawn in about a second.
constexpr size_t kMostDrawn = 400;
constexpr size_t kLongestLabelLine = 70;

/// What is used of Graphviz. It is loaded when a picture is wanted: with it come libraries for fonts and images, which
/// a program that manages clusters should not need to start.
struct Graphviz {
  decltype(&::gvContext) context = nullptr;
  decltype(&::gvFreeContext) free_context = nullptr;
  decltype(&::gvLayout) layout = nullptr;
  decltype(&::gvFreeLayout) free_layout = nullptr;
  decltype(&::gvRenderData) render = nullptr;
  decltype(&::gvFreeRenderData) free_render = nullptr;
  decltype(&::agopen) open = nullptr;
  decltype(&::agclose) close = nullptr;
  decltype(&::agnode) node = nullptr;
  decltype(&::agedge) edge = nullptr;
  decltype(&::agsafeset) set = nullptr;
  const Agdesc_t* directed = nullptr;
};

template <class Symbol>
bool find(void* library, const char* name, Symbol& symbol) {
  symbol = reinterpret_cast<Symbol>(::dlsym(library, name));
  return symbol != nullptr;
}

Result<Graphviz> load() {
  void* layouts = ::dlopen("libgvc.so.6", RTLD_NOW | RTLD_LOCAL);
  void* graphs = ::dlopen("libcgraph.so.6", RTLD_NOW | RTLD_LOCAL);
  Graphviz found;
  const bool all = layouts != nullptr && graphs != nullptr && find(layouts, "gvContext", found.context) &&
                   find(layouts, "gvFreeContext", found.free_context) && find(layouts, "gvLayout", found.layout) &&
                   find(layouts, "gvFreeLayout", found.free_layout) && find(layouts, "gvRenderData", found.render) &&
                   find(layouts, "gvFreeRenderData", found.free_render) && find(graphs, "agopen", found.open) &&
                   find(graphs, "agclose", found.close) && find(graphs, "agnode", found.node) &&
                   find(graphs, "agedge", found.edge) && find(graphs, "agsafeset", found.set) &&
                   find(graphs, "Agdirected", found.directed);
  if (all) return found;
  return Error{
      ErrorCode::kUnavailable,
      "-o svg needs the library of Graphviz, which cannot be loaded: install it (Debian: apt install libgvc6), "
      "or use -o mermaid"};
}

/// Names are the users' to choose. In a label Graphviz reads a backslash as the begin of an escape, and & as that of
/// an entity; what is special in XML it escapes itself.
std::string graphviz_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      out += c;
    }
  }
  return out;
}

std::string label_of(const DrawnEffect& effect) {
  std::string label;
  const auto add = [&](const std::string& line) {
    if (!line.empty()) label += graphviz_escaped(cut(line, kLongestLabelLine)) + "\\l";
  };
  add(effect.who.empty() ? effect.when : effect.when + " " + effect.who);
  // The kind and the object; then what it says of itself.
  const size_t colon = effect.what.find(": ");
  add(effect.what.substr(0, colon));
  if (colon != std::string::npos) add(effect.what.substr(colon + 2));
  add(effect.state);
  return label;
}

}  // namespace

Result<std::string> effects_svg(const Value& answer, size_t alike) {
  static std::mutex mutex;  // the library keeps state of its own
  const std::lock_guard lock{mutex};
  SHIPLOG_TRY(const Graphviz graphviz, load());
  const auto end_context = [&](GVC_t* context) { static_cast<void>(graphviz.free_context(context)); };
  const std::unique_ptr<GVC_t, decltype(end_context)> context{graphviz.context(), end_context};
  const auto end_graph = [&](Agraph_t* graph) {
    graphviz.free_layout(context.get(), graph);
    graphviz.close(graph);
  };
  std::string name{"effects"};
  const std::unique_ptr<Agraph_t, decltype(end_graph)> graph{graphviz.open(name.data(), *graphviz.directed, nullptr),
                                                             end_graph};
  const auto set = [&](void* object, std::string attribute, std::string value, const char* otherwise) {
    std::string fallback{otherwise};
    graphviz.set(object, attribute.data(), value.data(), fallback.data());
  };
  set(graph.get(), "rankdir", "LR", "");
  std::vector<Agnode_t*> nodes;
  for (const DrawnEffect& effect : drawn_effects(answer, alike, kMostDrawn)) {
    std::string id = "n" + std::to_string(nodes.size());
    Agnode_t* node = graphviz.node(graph.get(), id.data(), 1);
    set(node, "label", label_of(effect), "");
    set(node, "shape", effect.who.empty() ? "plaintext" : "box", "box");
    set(node, "fontname", "sans-serif", "");
    set(node, "fontsize", "10", "14");
    set(node, "color", effect.state.empty() ? "black" : "#c0392b", "black");
    if (!nodes.empty()) graphviz.edge(graph.get(), nodes[effect.parent], node, nullptr, 1);
    nodes.push_back(node);
  }
  char* bytes = nullptr;
  unsigned int length = 0;
  if (graphviz.layout(context.get(), graph.get(), "dot") != 0 ||
      graphviz.render(context.get(), graph.get(), "svg", &bytes, &length) != 0) {
    return Error{ErrorCode::kInternal, "Graphviz could not draw the effects; use -o mermaid"};
  }
  std::string svg{bytes, length};
  graphviz.free_render(bytes);
  return svg;
}

}  // namespace shiplog::ctl
