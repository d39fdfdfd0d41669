import type { RepositoryContext } from '../engine/open.ts'
import { isUserIsolated } from '../measure/users/lodging.ts'
import { findSideUsers } from '../measure/users/side-users.ts'
import { reportBad, type DoctorFinding, reportGood, reportUnknown } from '../report/doctor-text.ts'
import { listCommittedSpecs } from './committed-specs.ts'
import { WORKFLOW } from '../setup/github/files.ts'
import type { WorkflowFile } from './committed-workflows.ts'

const MAKES_USERS = /useradd .*winnow-\$n/

/** A spec may ask for users of sides long after the workflow was written, or on a machine that has none. */
export async function checkSideUsers(
  workshop: RepositoryContext,
  files: readonly WorkflowFile[],
): Promise<DoctorFinding[]> {
  const specs = (await listCommittedSpecs(workshop, [])).flatMap(({ spec }) => spec ?? [])
  const asking = specs.filter(isUserIsolated).map(({ name }) => name)
  if (asking.length === 0) return []
  const names = asking.join(', ')
  const workflow = files.find(({ path }) => path === WORKFLOW)
  if (workflow === undefined) return [checkMachineUsers(names)]
  if (MAKES_USERS.test(workflow.text))
    return [reportGood(`${WORKFLOW} makes a user for each side, for ${names} on machines of GitHub's`)]
  const fix = 'winnow init --github brings it up to date'
  return [reportBad(`${names}: each side is to have a user of its own, and ${WORKFLOW} makes none`, fix)]
}

function checkMachineUsers(names: string): DoctorFinding {
  const found = findSideUsers()
  if ('owners' in found) return reportGood(`there is a user for each side of ${names}`)
  return reportUnknown(`${names}: each side is to have a user of its own, and here ${found.what}`, found.fix)
}
