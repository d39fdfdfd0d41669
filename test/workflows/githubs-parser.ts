import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type * as workflowParser from '@actions/workflow-parser'
import type * as actionParser from '@actions/workflow-parser/actions/action-parser'
import type * as actionTemplate from '@actions/workflow-parser/actions/action-template'
import { rolldown } from 'rolldown'

type Parser = typeof workflowParser & typeof actionParser & typeof actionTemplate

const MODULES = ['', '/actions/action-parser', '/actions/action-template']

/** GitHub's own parser imports its schema in a way that only bundlers understand: so it is bundled first. */
export async function githubsParser(dir: string): Promise<Parser> {
  const entry = '\0parser'
  const bundle = await rolldown({
    input: { parser: entry },
    platform: 'node',
    logLevel: 'silent',
    plugins: [
      {
        name: 'entry',
        resolveId: id => (id === entry ? { id, moduleSideEffects: true } : null),
        load: id =>
          id === entry
            ? MODULES.map(name => `export * from '@actions/workflow-parser${name}'`).join('\n')
            : null,
      },
    ],
  })
  await bundle.write({ dir, format: 'esm', entryFileNames: '[name].mjs' })
  await bundle.close()
  return import(pathToFileURL(join(dir, 'parser.mjs')).href)
}
