import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { toNullIfMissing } from '../git/bare-repository.ts'

export const AGENT_FILE = 'AGENTS.md'
/** git may have given the file line ends of Windows. */
const BLOCKS = /^<!-- winnow:([a-z0-9-]+) -->\r?\n[\s\S]*?^<!-- \/winnow:\1 -->(?:\r?\n)?/gm

/** Writes the instructions between two markers, so that a later run can replace or remove them. */
function addAgentBlock(text: string, specName: string): string {
  const block = `<!-- winnow:${specName} -->\n${renderAgentInstructions(specName).join('\n')}\n<!-- /winnow:${specName} -->\n`
  const there = [...text.matchAll(BLOCKS)].find(([, name]) => name === specName)
  if (there !== undefined) return text.replace(there[0], () => block)
  if (text.trim() === '') return block
  return `${text.replace(/\n*$/, '\n\n')}${block}`
}

export function removeAgentBlocks(text: string): string {
  const left = text.replace(BLOCKS, '')
  return left === text ? text : left.replace(/(\r?\n)(?:\r?\n)+$/, '$1')
}

export interface AgentFile {
  text: string
  existed: boolean
  changed: boolean
}

export async function buildAgentFile(topLevel: string, specName: string): Promise<AgentFile> {
  const before = await readFile(join(topLevel, AGENT_FILE), 'utf8').catch(toNullIfMissing)
  const text = addAgentBlock(before ?? '', specName)
  return { text, existed: before !== null, changed: text !== before }
}

export async function writeAgentFile(topLevel: string, { text, changed }: AgentFile): Promise<void> {
  if (changed) await writeFile(join(topLevel, AGENT_FILE), text)
}

/** Must stay the same text for the same spec: `init --agent` compares it with the block in AGENTS.md. */
export function renderAgentInstructions(specName: string): string[] {
  return [
    '## winnow: measured improvements',
    `- \`.winnow/${specName}.yaml\` says what is improved, how it is measured and which files may change; never edit it, nor the harness or its gates.`,
    `- Try an idea: edit files in scope, then \`winnow try --campaign ${specName} -m "what changes and why it helps" --json\`; no commit is needed.`,
    '- Its exit code is the verdict: 0 kept, 10 no gain, 11 not proven, 12 refused, 13 broken, 14 waiting, 15 worse; `next` says what to do.',
    `- A gain you measured yourself is no evidence; what was tried already is in \`winnow status --campaign ${specName} --json\`.`,
    `- What is kept is merged into \`optimize/${specName}\`: start the next idea from there, one idea at a time.`,
  ]
}
