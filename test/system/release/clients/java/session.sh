set -e
cp Session.java client/src/main/java/
cd client
mvn --quiet --batch-mode compile org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath -Dmdep.outputFile=classpath >&2
exec java -cp "target/classes:$(cat classpath)" Session "$@"
