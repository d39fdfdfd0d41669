import { readFileSync } from 'node:fs'
import { OWN_ACTION } from '../../src/init/workflows/steps.ts'
import { renderWorkflow } from '../../src/init/workflows/workflow.ts'
import { parseSpec } from '../../src/spec/load.ts'

/** The campaign of this repository itself. */
const SPEC = '.winnow/bundle.yaml'

/** The workflow of `init --github` with the action of this repository's own default branch. */
export function renderOwnWorkflow(): string {
  const { spec } = parseSpec(readFileSync(SPEC, 'utf8'), { file: SPEC })
  return renderWorkflow({ action: OWN_ACTION, specs: [spec] })
}
