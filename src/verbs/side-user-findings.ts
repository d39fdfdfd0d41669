import type { Workshop } from '../engine/open.ts'
import { asksForUsers } from '../measure/users/lodging.ts'
import { findSideUsers } from '../measure/users/side-users.ts'
import { bad, type Finding, good, unknown } from '../report/doctor-text.ts'
import { committedSpecs } from './committed-specs.ts'
import { WORKFLOW } from '../setup/github/files.ts'
import type { WorkflowFile } from './committed-workflows.ts'

const MAKES_USERS = /useradd .*winnow-\$n/

/** A spec may ask for users of sides long after the workflow was written, or on a machine that has none. */
export async function sideUserFindings(
  workshop: Workshop,
  files: readonly WorkflowFile[],
): Promise<Finding[]> {
  const specs = (await committedSpecs(workshop, [])).flatMap(({ spec }) => spec ?? [])
  const asking = specs.filter(asksForUsers).map(({ name }) => name)
  if (asking.length === 0) return []
  const names = asking.join(', ')
  const workflow = files.find(({ path }) => path === WORKFLOW)
  if (workflow === undefined) return [onThisMachine(names)]
  if (MAKES_USERS.test(workflow.text))
    return [good(`${WORKFLOW} makes a user for each side, for ${names} on machines of GitHub's`)]
  const fix = 'winnow init --github brings it up to date'
  return [bad(`${names}: each side is to have a user of its own, and ${WORKFLOW} makes none`, fix)]
}

function onThisMachine(names: string): Finding {
  const found = findSideUsers()
  if ('owners' in found) return good(`there is a user for each side of ${names}`)
  return unknown(`${names}: each side is to have a user of its own, and here ${found.what}`, found.fix)
}
