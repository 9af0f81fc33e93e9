#!/bin/sh
# Fetches PerfTest and its dependencies once, as resolved by Maven. Prints the directory of the jars.
#
#   java -cp "$(scripts/perf-test.sh)/*" com.rabbitmq.perf.PerfTest --help
set -eu
cd "$(dirname "$0")/.."
version=2.22.1
cache=$PWD/target/perf-test-$version

for tool in java mvn; do
    command -v "$tool" >/dev/null 2>&1 && continue
    echo "PerfTest needs $tool: install a Java runtime and Maven (Debian: default-jre-headless maven)" >&2
    exit 1
done

if [ ! -e "$cache/complete" ]; then
    mkdir -p "$cache/lib"
    cat >"$cache/pom.xml" <<POM
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>bench</groupId><artifactId>bench</artifactId><version>1</version>
  <dependencies>
    <dependency>
      <groupId>com.rabbitmq</groupId><artifactId>perf-test</artifactId><version>$version</version>
    </dependency>
  </dependencies>
</project>
POM
    mvn --quiet --batch-mode -f "$cache/pom.xml" dependency:copy-dependencies \
        -DincludeScope=runtime -DoutputDirectory=lib >"$cache/log" 2>&1 || {
        echo "Maven could not fetch PerfTest $version; is Maven Central reachable?" >&2
        exit 1
    }
    touch "$cache/complete"
fi
echo "$cache/lib"
