# The service as an image. docs/install.md describes how to run it.
# Both stages run on the machine that builds, whatever it builds for: only the last one needs an emulator, for a moment.
FROM --platform=$BUILDPLATFORM node:24-slim AS build
WORKDIR /keyfront
COPY . .
# No script of a package is needed: nothing is compiled or downloaded.
RUN npm ci --ignore-scripts && npm run build

FROM --platform=$BUILDPLATFORM node:24-slim AS packages
ARG TARGETARCH
WORKDIR /keyfront
COPY package.json package-lock.json ./
# npm has another name for amd64.
RUN npm ci --omit=dev --ignore-scripts --os=linux --libc=glibc --cpu=$(echo "$TARGETARCH" | sed s/amd64/x64/)

FROM node:24-slim
# The release workflow adds the version, the commit and the digest of the base.
LABEL org.opencontainers.image.title="Keyfront" org.opencontainers.image.description="Manages the access keys of an API gateway" org.opencontainers.image.licenses="MIT"
ENV NODE_ENV=production HOST=0.0.0.0 KEYFRONT_DATA=/var/lib/keyfront/data
WORKDIR /keyfront
# The service rejects a data folder that other users can access.
RUN install -d -m 0700 -o node -g node /var/lib/keyfront /var/lib/keyfront/data
COPY --from=packages /keyfront/node_modules node_modules
COPY --from=build /keyfront/package.json /keyfront/LICENSE ./
COPY --from=build /keyfront/dist dist
USER node
VOLUME /var/lib/keyfront
EXPOSE 4000
STOPSIGNAL SIGTERM
# Checks that the process responds, not that it is ready: another container does not cure a full disk.
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s CMD ["node", "-e", "const { env } = process; env.NODE_TLS_REJECT_UNAUTHORIZED = '0'; fetch(`${env.KEYFRONT_TLS_CERT ? 'https' : 'http'}://127.0.0.1:${env.PORT ?? 4000}/health`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# `docker run IMAGE credentials issue …` runs another command.
ENTRYPOINT ["node", "--max-semi-space-size=32", "--heap-growing-percent=100", "--disable-proto=delete", "dist/main.js"]
CMD ["serve"]
