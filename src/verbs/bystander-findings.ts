import { reportBad, type DoctorFinding, reportGood, reportUnknown } from '../report/doctor-text.ts'
import { type ForeignWorkflow, analyzeWorkflow } from '../setup/github/bystanders.ts'
import { WORKFLOW } from '../setup/github/files.ts'
import type { WorkflowFile } from './committed-workflows.ts'

/** Other workflows of the repository that would run for winnow's branches, and the lines that keep them off. */
export function checkForeignWorkflows(
  files: readonly WorkflowFile[],
  prefixes: readonly string[],
): DoctorFinding[] {
  const others = files.filter(({ path }) => path !== WORKFLOW)
  return others.flatMap(({ path, text }) =>
    prefixes.map(prefix => {
      const found = analyzeWorkflow(path, text, prefix)
      return found === null
        ? reportUnknown(`${path} cannot be read as a workflow`, 'see what GitHub says of it under Actions')
        : checkForeignWorkflow(found)
    }),
  )
}

/** A pull request of a job's token starts runs that wait for approval; its pushes start none, those of people do. */
function checkForeignWorkflow({ path, triggers, on, condition }: ForeignWorkflow): DoctorFinding {
  if (triggers.length === 0) return reportGood(`${path} leaves winnow's branches alone`)
  const lines = [
    ...(on === '' ? [] : ['change these lines of it:', ...indentLines(on)]),
    ...(condition === null ? [] : ['add to each of its jobs:', `  if: \${{ ${condition} }}`]),
  ].join('\n')
  if (triggers.includes('pull_request'))
    return reportBad(
      `${path} leaves a run that waits for approval on every draft of winnow (pull_request)`,
      lines,
    )
  return reportUnknown(
    `${path} also runs on winnow's branches (${triggers.join(', ')})`,
    `if you do not want that, ${lines}`,
  )
}

function indentLines(text: string): string[] {
  return text.split('\n').map(line => `  ${line}`)
}

/** Those whose jobs have whatever the settings of the repository give a token. */
export function listUnguardedWorkflows(
  files: readonly WorkflowFile[],
  prefixes: readonly string[],
): string[] {
  return files.flatMap(({ path, text }) => {
    if (path === WORKFLOW || /^permissions:/m.test(text)) return []
    const runs = prefixes.some(prefix => (analyzeWorkflow(path, text, prefix)?.triggers.length ?? 0) > 0)
    return runs ? [path] : []
  })
}
