# Commands that ask no server. Sourced by session.sh.

local_commands() {
  step "commands without a server"
  karmadactl  prints   "Cluster Registration"                       --help
  shiplogctl  prints   "register"                                   --help
  karmadactl  prints   "Cluster Registration"
  karmadactl  prints   "karmadactl version: version.Info{"          version
  shiplogctl  matches  '^Client Version: [0-9.]+$'                  version --client
  shiplogctl  matches  'Server Version: v1\.[0-9]+'                 version
  shiplogctl  prints   '"serverVersion"'                            version -o json
  karmadactl  prints   "--add-dir-header"                           options
  karmadactl  refuses  "unknown flag: --add"                        options --add
  both        prints   "complete -"                                 completion bash
  both        prints   "#compdef"                                   completion zsh
  both        prints   "complete -"                                 completion fish
  karmadactl  refuses  'Unsupported shell type "tcsh"'              completion tcsh
  shiplogctl  refuses  'there is no completion for "tcsh"'          completion tcsh
  karmadactl  refuses  "error: unknown flag: --nosuch"              get --nosuch
  shiplogctl  refuses  "there is no option --nosuch"                get pods --nosuch
  karmadactl  refuses  'unknown command "nosuch"'                   nosuch
  shiplogctl  refuses  'there is no command "nosuch"'               nosuch
}
