import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { clientAddress } from '../../domain/address.ts';

const UNKNOWN = 'unknown';

/** Returns the address at the other end of a connection. */
export const peerAddress = (socket: Duplex): string =>
  clientAddress('remoteAddress' in socket ? String(socket.remoteAddress) : '') ?? UNKNOWN;

/**
 * Returns the address of the client: that of the connection, or the one that the last trusted proxy saw. Proxies append
 * to X-Forwarded-For, so its end can be trusted and its beginning cannot. Where a proxy says something else than an
 * address, such as `unknown`, the proxy itself is the client.
 */
export function addressOf({ socket, headers }: IncomingMessage, trustedProxies: number): string {
  const nearest = peerAddress(socket);
  const forwarded = trustedProxies === 0 ? undefined : headers['x-forwarded-for'];
  if (forwarded === undefined) return nearest;
  const seen = [forwarded]
    .flat()
    .join(',')
    .split(',')
    .filter((text) => text.trim() !== '')
    .slice(-trustedProxies);
  return seen.map(clientAddress).find((address) => address !== undefined) ?? nearest;
}

/** True if a trusted proxy says that the client uses HTTPS. The service itself serves HTTP only. */
export const cameByHttps = ({ headers }: IncomingMessage, trustedProxies: number): boolean =>
  trustedProxies > 0 && /^\s*https\s*(,|$)/i.test(String(headers['x-forwarded-proto'] ?? ''));
