import { join } from 'node:path'
import { hashSha256 } from '../../model/canonical.ts'
import type { Spec } from '../../spec/schema.ts'
import type { MeasureInput } from '../input.ts'
import { requireSideUsers, type SideUsers } from './side-users.ts'

/** Where an order is measured, and as whom. */
export type Workspace = Pick<MeasureInput, 'workDir' | 'users'>

/** A machine of its own accord gives sides no users: they are asked for. */
export function isUserIsolated({ measurement }: Pick<Spec, 'measurement'>): boolean {
  return measurement.isolation === 'uid'
}

export function chooseWorkspace(spec: Pick<Spec, 'measurement'>, workDir: string): Workspace {
  return isUserIsolated(spec) ? buildUserWorkspace(requireSideUsers(), workDir) : { workDir }
}

/** A work directory that users of sides can enter stands for one that may lie below a home. */
export function buildUserWorkspace(users: SideUsers, workDir: string): Required<Workspace> {
  return { users, workDir: join(users.dir, `work-${hashSha256(workDir).slice(0, 12)}`) }
}
