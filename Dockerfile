FROM node:22-bookworm-slim

WORKDIR /app
ENV NODE_ENV=production
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --no-audit --no-fund && npm cache clean --force

COPY tsconfig.json ./
COPY clickhouse ./clickhouse
COPY redis ./redis
COPY src ./src

# The embedded store and its management secret; nothing with a ClickHouse server.
RUN mkdir /data && chown node:node /data
VOLUME /data

# The thread pool must be larger than the embedded engine's connections, each of which holds a thread.
ENV HOST=0.0.0.0 PORT=3000 DATA_DIR=/data UV_THREADPOOL_SIZE=16
# The management listener stays on 127.0.0.1 inside the container: use "docker exec … npm run --silent admin".
EXPOSE 3000
USER node
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/readyz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--max-semi-space-size=32", "--import", "tsx", "src/main.ts"]
