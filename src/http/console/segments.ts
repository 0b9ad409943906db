import { actorOf } from '../../metadata/sessions.ts';
import { parseBody as parse } from '../gate/validate.ts';
import { SegmentBody, SegmentPath } from './bodies.ts';
import { bodyOf, type Callers, type Handlers, type HandlersDeps } from './handler.ts';

/** Saved segments: everybody of the account uses them, owners change them. */
export function ofSegments(
  { metadata }: Pick<HandlersDeps, 'metadata'>,
  { reader, owner }: Callers,
): Handlers<'GET /segments' | 'POST /segments' | 'PUT /segments/:segmentId' | 'DELETE /segments/:segmentId'> {
  return {
    'GET /segments': async (req, res) => metadata.listSegments((await reader(req, res)).account),
    'POST /segments': async (req, res) => {
      const session = await owner(req, res);
      const named = await bodyOf(req, res, SegmentBody);
      return { created: await metadata.by(actorOf(session)).saveSegment(session.account, named) };
    },
    'PUT /segments/:segmentId': async (req, res) => {
      const session = await owner(req, res);
      const { segmentId } = parse(SegmentPath, req.params);
      const named = await bodyOf(req, res, SegmentBody);
      return metadata.by(actorOf(session)).changeSegment(session.account, segmentId, named);
    },
    'DELETE /segments/:segmentId': async (req, res) => {
      const session = await owner(req, res);
      const { segmentId } = parse(SegmentPath, req.params);
      await metadata.by(actorOf(session)).deleteSegment(session.account, segmentId);
      return { segmentId, deleted: true };
    },
  };
}
