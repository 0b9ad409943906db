import { Alert } from '@mantine/core';
import { useReason } from '../states.tsx';

/** Why something that a person tried did not work. Nothing without an error. */
export function Problem({ error }: { readonly error: unknown }) {
  const reason = useReason();
  if (error === null) return null;
  return (
    <Alert color="red" role="alert" variant="outline" className="problem">
      {reason(error)}
    </Alert>
  );
}
