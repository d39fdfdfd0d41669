import { join } from 'node:path'
import { listExecutions } from '../decide/metrics.ts'
import { toProbeLabel } from '../model/probe.ts'
import { MARK_NAME } from '../probes/language.ts'
import { SHARED_FOLDERS } from '../probes/list-probes.ts'
import { isJudgedMetric } from '../spec/spec-facts.ts'
import { removeAll } from './file-system.ts'
import { listCandidateSides, type MeasureInput, type OrderSide, type Session } from './session.ts'

/** Probes that the harness did not stop: those that show a gain twice or are scored later, and code that was empty. */
export function listUnstoppedProbes(session: Session): OrderSide[] {
  const isGain = ({ label }: OrderSide) =>
    isJudgedMetric(session.input.spec) || listExecutions(session.draft, label, 'repeat').length > 0
  return listCandidateSides(session).filter(
    side => !side.ended && (side.label === toProbeLabel('vanish') || isGain(side)),
  )
}

/** Removes what the memory probe may have left outside its own folder. */
export async function removeProbeMarks({ order, env }: Pick<MeasureInput, 'order' | 'env'>): Promise<void> {
  if (order.purpose !== 'probe') return
  const { HOME: home } = env
  for (const folder of [...SHARED_FOLDERS, ...(home === undefined || home === '' ? [] : [home])])
    await removeAll(join(folder, MARK_NAME))
}
