FROM node:22-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY deploy/build ./deploy/build
COPY bench ./bench
COPY test ./test
COPY src ./src
RUN node deploy/build/main.js --if-needed

FROM node:22-bookworm-slim
WORKDIR /app
ENV NODE_ENV=production
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --no-audit --no-fund && npm cache clean --force
COPY deploy/bin ./deploy/bin
COPY clickhouse ./clickhouse
COPY redis ./redis
COPY --from=build /app/dist ./dist
RUN ln -s /app/deploy/bin/session-analytics /usr/local/bin/session-analytics

# The embedded store and its management secret; nothing with a ClickHouse server.
RUN mkdir /data && chown node:node /data
VOLUME /data

ENV HOST=0.0.0.0 PORT=3000 DATA_DIR=/data
# The management listener stays on 127.0.0.1 inside the container: use "docker exec … session-analytics admin".
EXPOSE 3000
USER node
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/readyz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["session-analytics", "serve"]
