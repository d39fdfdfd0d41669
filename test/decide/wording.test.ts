import { describe, expect, it } from 'vitest'
import { formatMetricChange, formatNumber, roundNumbers } from '../../src/decide/wording.ts'

describe('a number', () => {
  it.each([
    [3_316_386, '3316386'],
    [-123_456_789_012_345, '-123456789012345'],
    [3_316_386.5, '3316387'],
    [123.456789, '123.457'],
    [0.000123456789, '0.000123457'],
    [1_234_567_890_123_456, '1234570000000000'],
    [0, '0'],
    [Number.POSITIVE_INFINITY, 'Infinity'],
  ])('%d is shown as %s: a count in full, a fraction with six digits', (value, text) => {
    expect(formatNumber(value)).toBe(text)
  })

  it('is shown in full in a change as well', () => {
    expect(formatMetricChange('bytes', 3_316_386, 3_316_380)).toBe('bytes 3316386 -> 3316380 (-0.00018 %)')
  })
})

describe('the numbers of a view', () => {
  it('have no digits that sums of decimals got wrong, and lose none that were measured', () => {
    const mean = (0.4 + 0.3 + 0.83) / 3
    expect(mean).not.toBe(0.51)
    expect(
      roundNumbers({ tasks: [{ mean, parts: { eval: 0.1 + 0.2 } }], at: null, text: '0.5099999999999999' }),
    ).toEqual({
      tasks: [{ mean: 0.51, parts: { eval: 0.3 } }],
      at: null,
      text: '0.5099999999999999',
    })
    expect(roundNumbers([1234567890123456, 123456.789012, -0, Number.NaN])).toEqual([
      1234567890123456,
      123456.789012,
      -0,
      Number.NaN,
    ])
  })
})
