import { readFile, rename, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { fetchOrderedTrees } from '../engine/ordered-trees.ts'
import { UserError } from '../errors.ts'
import { toNullIfMissing } from '../git/bare-repository.ts'
import { hashSha256 } from '../model/canonical.ts'
import { digestSchema } from '../model/ids.ts'
import { type Order, orderTermsSchema } from '../model/order.ts'
import { parseSpec } from '../spec/parse.ts'
import { withRepository } from './at-campaign.ts'
import type { Call } from './call.ts'
import { measureHere } from './measuring.ts'
import { DEFAULT_PREFIX } from './known-campaigns.ts'

const orderSchema = orderTermsSchema.extend({ id: digestSchema })

/** An order as a file, measured without looking at any ledger; its report is a file as well. */
export async function measureFile(call: Call): Promise<number> {
  const specFile = requireOption(call, 'spec')
  const reportFile = resolve(call.around.directory, requireOption(call, 'report'))
  const order = await readOrder(call, requireOption(call, 'order'))
  const yaml = await readGivenFile(call, specFile)
  const { spec, sha256: hash } = parseSpec(yaml, { file: specFile })
  if (hash !== order.spec_sha256) {
    throw new UserError(`${specFile} is not the spec that the order was issued under`, {
      place: { file: specFile },
      fix: `give the file whose sha256 is ${order.spec_sha256}`,
    })
  }
  return withRepository(call, DEFAULT_PREFIX, async workshop => {
    await fetchOrderedTrees(workshop.repository, order)
    if (call.given.flag('dry-run')) {
      call.terminal.out(`would measure order ${order.id} and write ${reportFile}`)
      return 0
    }
    const place = `file-${hashSha256(order.id).slice(0, 12)}`
    const report = await measureHere(call, workshop, { order, spec, place, what: 'winnow measure' })
    const part = `${reportFile}.${call.around.random.hex(8)}.part`
    await writeFile(part, `${JSON.stringify(report)}\n`)
    await rename(part, reportFile)
    call.terminal.out(`report written to ${reportFile}`)
    return 0
  })
}

function requireOption({ given }: Call, name: string): string {
  const value = given.text(name)
  if (value !== undefined) return value
  throw new UserError(`--order needs --${name} as well`, {
    fix: 'winnow measure --order FILE --spec FILE --report FILE',
  })
}

async function readOrder(call: Call, file: string): Promise<Order> {
  const parsed = orderSchema.safeParse(parseJsonFile(await readGivenFile(call, file), file))
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new UserError(`${file} is not an order: ${issue?.path.join('.')} ${issue?.message}`, {
    place: { file },
  })
}

function parseJsonFile(text: string, file: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new UserError(`${file} is not JSON`, { place: { file }, cause })
  }
}

async function readGivenFile({ around }: Call, file: string): Promise<string> {
  const text = await readFile(resolve(around.directory, file), 'utf8').catch(toNullIfMissing)
  if (text === null) throw new UserError(`there is no file ${file}`, { place: { file } })
  return text
}
