import { renderPermissionTable } from '../../src/init/workflows/setup.ts'
import { buildSpecJsonSchema } from '../../src/spec/json-schema.ts'
import { VERBS } from '../../src/cli/registry.ts'
import { commandsPage } from './commands-page.ts'
import { WORKFLOW } from '../../src/init/workflows/files.ts'
import { renderOwnWorkflow } from './own-workflow.ts'
import { permissionPage } from './permission-page.ts'
import { specPage } from './spec-page.ts'

/** Every page and workflow that is written from the code, by its path; `npm run docs` writes them, a test compares them. */
export const PAGES: Readonly<Record<string, () => string>> = {
  'docs/commands.md': () => commandsPage(VERBS),
  'docs/github.md': () => permissionPage('docs/github.md', renderPermissionTable()),
  'docs/spec.md': () => specPage(buildSpecJsonSchema()),
  [WORKFLOW]: renderOwnWorkflow,
}
