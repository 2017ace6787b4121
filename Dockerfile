# The same Node as in package-lock.json (a test compares them).
FROM docker.io/library/node:26.10.0-trixie-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev

FROM docker.io/library/node:26.10.0-trixie-slim
ENV NODE_ENV=production HOST=0.0.0.0
WORKDIR /app
RUN mkdir data && chown 1000:1000 data
COPY --from=dependencies /app/node_modules node_modules
COPY package.json openapi.yaml ./
COPY service service
USER 1000:1000
VOLUME /app/data
EXPOSE 3000 3001
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.ADMIN_PORT || 3001}/livez`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "service/main.ts"]
