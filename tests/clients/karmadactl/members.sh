# What reaches members through the control plane. Sourced by session.sh.

members() { :; }
