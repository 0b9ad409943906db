import type { IncomingMessage } from 'node:http';

/**
 * Returns the address of the client: that of the connection, or the one that the last trusted proxy saw. Proxies append
 * to X-Forwarded-For, so its end can be trusted and its beginning cannot.
 */
export function clientAddress({ socket, headers }: IncomingMessage, trustedProxies: number): string {
  const nearest = socket.remoteAddress ?? 'unknown';
  const forwarded = trustedProxies === 0 ? undefined : headers['x-forwarded-for'];
  if (forwarded === undefined) return nearest;
  const seen = [forwarded]
    .flat()
    .join(',')
    .split(',')
    .map((address) => address.trim());
  const addresses = [nearest, ...seen.filter((address) => address !== '').reverse()];
  return addresses[Math.min(trustedProxies, addresses.length - 1)] ?? nearest;
}

/** True if a trusted proxy says that the client uses HTTPS. The service itself serves HTTP only. */
export const cameByHttps = ({ headers }: IncomingMessage, trustedProxies: number): boolean =>
  trustedProxies > 0 && /^\s*https\s*(,|$)/i.test(String(headers['x-forwarded-proto'] ?? ''));
