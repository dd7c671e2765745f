# Finds a JDK of version 25 or later and exports JAVA_HOME. To be sourced.
# JAVA_HOME is taken if it fits, then java on the PATH, then the usual folders.

jdk_version() { # the feature version of the JDK in folder $1, or 0; needs javac too, since the build does
  [ -x "$1/bin/java" ] && [ -x "$1/bin/javac" ] || { echo 0; return; }
  sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$1/release" 2>/dev/null | grep . || echo 0
}

find_jdk() {
  local candidate java_on_path
  java_on_path=$(command -v java 2>/dev/null) && java_on_path=$(dirname "$(dirname "$(readlink -f "$java_on_path")")")
  for candidate in "${JAVA_HOME:-}" "$java_on_path" /usr/lib/jvm/* /usr/java/* /opt/java/* /opt/jdk* "$HOME"/.sdkman/candidates/java/* \
    "$HOME"/.jdks/* /Library/Java/JavaVirtualMachines/*/Contents/Home; do
    if [ -n "$candidate" ] && [ "$(jdk_version "$candidate")" -ge 25 ]; then
      export JAVA_HOME=$candidate
      return 0
    fi
  done
  echo "pgnear: no JDK 25 found (looked at JAVA_HOME, java on the PATH, /usr/lib/jvm, /usr/java, /opt, ~/.sdkman, ~/.jdks). Install one, or set JAVA_HOME to its folder." >&2
  return 1
}
