# Two images from one file. `docker build .` makes the one with the embedded engine; `docker build --target server .`
# makes a small one without it, for a ClickHouse server.

FROM node:22-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY deploy/build ./deploy/build
COPY bench ./bench
COPY test ./test
COPY docs ./docs
COPY src ./src
RUN node deploy/build/main.js --if-needed

FROM node:22-bookworm-slim AS server-packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --omit=optional --no-audit --no-fund

FROM node:22-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --no-audit --no-fund

# Debian and Node, without npm and the rest of Node's image.
FROM debian:bookworm-slim AS base
COPY --from=build /usr/local/bin/node /usr/local/bin/node
# /data holds the embedded store and its management secret; with a ClickHouse server only large answers.
RUN groupadd --gid 1000 node \
  && useradd --uid 1000 --gid node --no-create-home --home-dir /data --shell /usr/sbin/nologin node \
  && install --directory --owner=node --group=node /data \
  && ln -s /app/deploy/bin/session-analytics /usr/local/bin/session-analytics
WORKDIR /app
COPY package.json ./
COPY deploy/bin ./deploy/bin
COPY clickhouse/migrations ./clickhouse/migrations
COPY clickhouse/engine.xml ./clickhouse/engine.xml
COPY redis ./redis
COPY --from=build /app/dist ./dist
# Messages name these pages.
COPY README.md ./
COPY docs ./docs
VOLUME /data
# Large answers of the store wait in files. /tmp may be in memory, which has a limit.
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/data TMPDIR=/data
# The management listener stays on 127.0.0.1 inside the container: use "docker exec … session-analytics admin".
EXPOSE 3000
USER 1000:1000
# A start may wait for its store and Redis (STORE_WAIT_SECONDS), and then migrates.
HEALTHCHECK --interval=10s --timeout=5s --start-period=90s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/readyz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["session-analytics", "serve"]

FROM base AS server
COPY --from=server-packages /app/node_modules ./node_modules

FROM base AS embedded
COPY --from=packages /app/node_modules ./node_modules
