import * as z from 'zod';

/** RFC 9457, with a `code` for programs; what else is there depends on the code. */
export const problem = z
  .looseObject({
    type: z.string().regex(/^urn:pollkeeper:problem:[a-z_]+$/),
    title: z.string().min(1),
    status: z.int().min(400).max(599),
    detail: z.string().min(1),
    code: z.string().regex(/^[a-z_]+$/),
    field: z.string().min(1).max(200).optional(),
    /** Left out of an item of a list: there it stands in the answer's own header. */
    request_id: z.string().min(1).optional(),
  })
  .meta({ id: 'Problem' });
