# The same Node as in package-lock.json (a test compares them).
FROM docker.io/library/node:24.21.0-trixie-slim@sha256:8ec5d7557396cfe32d21c3f9c13072355ceab22b584578ca4bb28af31120cffe AS build
# Copies the files that Node needs from the system, and the list of their packages for security scanners.
RUN mkdir /image && cd /image && node=/usr/local/bin/node && libraries=$(ldd $node | grep -o '/[^ ]*') \
  && cp --parents --dereference $node $libraries /etc/os-release . && mkdir -m 1777 tmp && mkdir -p var/lib/dpkg \
  && realpath $libraries | xargs dpkg-query --search | cut -d: -f1 | sort -u | xargs dpkg-query --status > var/lib/dpkg/status
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packages packages
# The image has its own Node: leave out the optional packages, which contain another one. It runs the engine and the store.
RUN npm pkg delete devDependencies optionalDependencies overrides && npm ci && mkdir /data node_modules/.cache && chown 1000:1000 node_modules/.cache
COPY openapi.yaml ./
COPY service service
# The files of a clone that only its owner can read are copied with these permissions.
RUN chmod -R a+rX .
# One start fills the compile cache. Later starts need not compile the modules.
ENV NODE_COMPILE_CACHE=/app/node_modules/.cache
USER 1000:1000
RUN NODE_ENV=production DATABASE_URL=sqlite:/tmp/plants.db timeout --signal INT 10 node --disable-sigusr1 service/main.ts | grep 'admin port open' \
  && chmod -R a+rX node_modules/.cache

FROM scratch
LABEL org.opencontainers.image.title="Plant Store" \
  org.opencontainers.image.description="A contract-first HTTP service that keeps plants" \
  org.opencontainers.image.licenses="MIT" \
  org.opencontainers.image.version="1.0.0"
COPY --from=build /image /
# The user 1000 can write the data, but neither the program nor its compile cache.
COPY --from=build --chown=0:0 /app /app
COPY --from=build --chown=1000:1000 /data /app/data
ENV PATH=/usr/local/bin NODE_ENV=production NODE_COMPILE_CACHE=/app/node_modules/.cache HOST=0.0.0.0
WORKDIR /app
USER 1000:1000
VOLUME /app/data
EXPOSE 3000 3001
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.ADMIN_PORT || 3001}/livez`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--disable-sigusr1", "service/main.ts"]
