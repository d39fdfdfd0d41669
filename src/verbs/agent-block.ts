import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { toNullIfMissing } from '../git/bare-repository.ts'
import { renderAgentInstructions } from '../report/agent-lines.ts'

export const AGENT_FILE = 'AGENTS.md'
const BLOCKS = /^<!-- winnow:([a-z0-9-]+) -->\n[\s\S]*?^<!-- \/winnow:\1 -->\n?/gm

/** The lines for agents, between marks by which they are found again. */
export function addAgentBlock(text: string, specName: string): string {
  const block = `<!-- winnow:${specName} -->\n${renderAgentInstructions(specName).join('\n')}\n<!-- /winnow:${specName} -->\n`
  const there = [...text.matchAll(BLOCKS)].find(([, name]) => name === specName)
  if (there !== undefined) return text.replace(there[0], () => block)
  if (text.trim() === '') return block
  return `${text.replace(/\n*$/, '\n\n')}${block}`
}

export function removeAgentBlocks(text: string): string {
  const left = text.replace(BLOCKS, '')
  return left === text ? text : left.replace(/\n{2,}$/, '\n')
}

export interface AgentFile {
  text: string
  existed: boolean
  changed: boolean
}

/** What AGENTS.md will be; everything else in it stays as it is. */
export async function buildAgentFile(topLevel: string, specName: string): Promise<AgentFile> {
  const before = await readFile(join(topLevel, AGENT_FILE), 'utf8').catch(toNullIfMissing)
  const text = addAgentBlock(before ?? '', specName)
  return { text, existed: before !== null, changed: text !== before }
}

export async function writeAgentFile(topLevel: string, { text, changed }: AgentFile): Promise<void> {
  if (changed) await writeFile(join(topLevel, AGENT_FILE), text)
}
