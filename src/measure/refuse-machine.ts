import { refuseFull } from './free-space.ts'
import { MachineFailed } from './machine-failure.ts'
import type { Session } from './session.ts'

/** After something has failed and was written down: where the machine is to blame, the order ends as the runner's failure. */
export async function refuseMachine({ machineFailure, input }: Session): Promise<void> {
  if (machineFailure !== null) throw new MachineFailed(machineFailure)
  await refuseFull(input.workDir)
}
