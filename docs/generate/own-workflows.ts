import { readFileSync } from 'node:fs'
import { githubFiles } from '../../src/setup/github/files.ts'
import { OWN_ACTION } from '../../src/setup/github/reusable.ts'
import { parseSpec } from '../../src/spec/parse.ts'

/** The campaign of this repository itself. */
const SPEC = '.winnow/bundle.yaml'
const NAMES = ['winnow', 'winnow-measure', 'winnow-wake', 'winnow-comments']

/** This repository's own workflows: those of `init --github --reusable`, with the action that lies beside them. */
export const OWN_WORKFLOWS: Readonly<Record<string, () => string>> = Object.fromEntries(
  NAMES.map(name => {
    const path = `.github/workflows/${name}.yml`
    return [path, () => textOf(path)]
  }),
)

function textOf(path: string): string {
  const { spec } = parseSpec(readFileSync(SPEC, 'utf8'), { file: SPEC })
  const setup = { action: OWN_ACTION, specs: [spec], calls: true }
  const files = githubFiles(setup, { steps: [], cache: null }, { comments: true })
  const found = files.find(file => file.path === path)
  if (found === undefined) throw new Error(`${path} is none of the files that are written`)
  return found.text
}
