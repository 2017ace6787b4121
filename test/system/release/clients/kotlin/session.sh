set -e
mkdir session
mv Session.kt session/
mvn --quiet --batch-mode compile org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath -Dmdep.outputFile=classpath >&2
exec java -Dfile.encoding=UTF-8 -Dstdout.encoding=UTF-8 -cp "target/classes:$(cat classpath)" SessionKt "$@"
