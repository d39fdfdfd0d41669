import { join } from 'node:path'
import { sha256 } from '../../model/canonical.ts'
import type { Spec } from '../../spec/schema.ts'
import type { MeasureInput } from '../input.ts'
import { requireSideUsers, type SideUsers } from './side-users.ts'

/** Where an order is measured, and as whom. */
export type Lodging = Pick<MeasureInput, 'workDir' | 'users'>

/** A machine of its own accord gives sides no users: they are asked for. */
export function asksForUsers({ measurement }: Pick<Spec, 'measurement'>): boolean {
  return measurement.isolation === 'uid'
}

export function lodgingFor(spec: Pick<Spec, 'measurement'>, workDir: string): Lodging {
  return asksForUsers(spec) ? lodgedWith(requireSideUsers(), workDir) : { workDir }
}

/** A work directory that users of sides can enter stands for one that may lie below a home. */
export function lodgedWith(users: SideUsers, workDir: string): Required<Lodging> {
  return { users, workDir: join(users.dir, `work-${sha256(workDir).slice(0, 12)}`) }
}
