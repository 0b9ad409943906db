import type { Request } from 'express';
import { AppError } from '../../domain/errors.ts';
import type { AccountId } from '../../domain/ids.ts';
import type { Metadata } from '../../metadata/metadata.ts';
import { actorOf } from '../../metadata/sessions.ts';
import { parseBody as parse } from '../gate/validate.ts';
import { InvitationBody, MemberPath, RoleBody } from './bodies.ts';
import { bodyOf, type Callers, type Handlers } from './handler.ts';

type MemberRoute = Extract<keyof Handlers, `${string} /members${string}`>;

/** Of an account. */
const MOST_MEMBERS = 200;

/** The people of the account, whom its owners invite and remove. */
export function ofMembers(metadata: Metadata, { reader, owner }: Callers): Handlers<MemberRoute> {
  /** Throws `not_found` for somebody who is no member. */
  const memberOf = async (req: Request, account: AccountId): Promise<string> => {
    const { email } = parse(MemberPath, req.params);
    const members = await metadata.listMembers(account);
    if (members.some((member) => member.email === email)) return email;
    throw new AppError('not_found', `${email} is no member of the account.`);
  };
  return {
    'GET /members': async (req, res) => {
      const { account } = await reader(req, res);
      const [members, links] = await Promise.all([
        metadata.listMembers(account),
        metadata.openSignInLinks(account),
      ]);
      const linkUntil = new Map(links.map(({ email, expiresAt }) => [email, expiresAt]));
      return members.map(({ email, role }) => ({ email, role, linkUntil: linkUntil.get(email) ?? null }));
    },
    'POST /members': async (req, res) => {
      const { account, ...session } = await owner(req, res);
      const { email, role } = await bodyOf(req, res, InvitationBody);
      const members = await metadata.listMembers(account);
      if (members.length >= MOST_MEMBERS && !members.some((member) => member.email === email))
        throw new AppError('plan_blocked', `An account may have ${MOST_MEMBERS} members.`);
      const deeds = metadata.by(actorOf(session));
      await deeds.addMember(account, email, role);
      return { created: { email, role, ...(await deeds.createInvitation(account, email)) } };
    },
    'PUT /members/:email': async (req, res) => {
      const { account, ...session } = await owner(req, res);
      const email = await memberOf(req, account);
      const { role } = await bodyOf(req, res, RoleBody);
      await metadata.by(actorOf(session)).setMember(account, email, role);
      return { email, role };
    },
    'DELETE /members/:email': async (req, res) => {
      const { account, ...session } = await owner(req, res);
      const email = await memberOf(req, account);
      await metadata.by(actorOf(session)).removeMember(account, email);
      return { email, removed: true };
    },
  };
}
