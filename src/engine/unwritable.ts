import { UserError } from '../errors.ts'
import type { CampaignContext } from './place.ts'

const CODES: ReadonlySet<unknown> = new Set([
  'ENOSPC',
  'EDQUOT',
  'EROFS',
  'EACCES',
  'EPERM',
  'EIO',
  'ENOTDIR',
  'EISDIR',
  'EEXIST',
])

/** A disk that does not take what has to be kept on this machine is a person's to mend; any other error is itself. */
export function explainDiskError(
  { dataDir, machineDir }: Pick<CampaignContext, 'dataDir' | 'machineDir'>,
  error: unknown,
): unknown {
  if (!(error instanceof Error) || !('code' in error) || !CODES.has(error.code)) return error
  const path = 'path' in error && typeof error.path === 'string' ? error.path : dataDir
  if (!path.startsWith(dataDir) && !path.startsWith(machineDir)) return error
  return new UserError(`${path} cannot be used: ${error.message}`, {
    place: { file: path },
    fix: 'free space or give write permission, then run again; what was recorded stays valid',
    cause: error,
  })
}
