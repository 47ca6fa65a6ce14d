import { describe, expect, it } from 'vitest';
import { fingerprint, isValidKey } from '../../infra/local/sume-simulator/api/idempotency.ts';
import { nextPollAfterSeconds } from '../../infra/local/sume-simulator/api/poll-hint.ts';
import { priceMicros } from '../../infra/local/sume-simulator/api/price.ts';
import { newWindow, takeRequest } from '../../infra/local/sume-simulator/api/rate-limit.ts';
import { findRoute } from '../../infra/local/sume-simulator/api/route.ts';
import { readByteRange } from '../../infra/local/sume-simulator/media/byte-range.ts';
import { clipFile } from '../../infra/local/sume-simulator/media/clip-file.ts';
import { checkMediaQuery, signMediaPath } from '../../infra/local/sume-simulator/media/media-url.ts';
import { evenly, jobRandoms, renderSeconds } from '../../infra/local/sume-simulator/render/render-time.ts';
import { readSettings } from '../../infra/local/sume-simulator/settings.ts';

describe('the render times of the Sume simulator', () => {
  const times = (durationSeconds: number, resolution: string) =>
    Array.from({ length: 4_000 }, (_, index) =>
      renderSeconds({ durationSeconds, resolution }, jobRandoms('seed', `job_${index}`).render),
    ).sort((left, right) => left - right);

  it('spread around a minute for 8 s at 720p, never under 20 s nor over 240 s', () => {
    const sorted = times(8, '720p');
    expect(sorted[2_000]).toBeGreaterThan(55);
    expect(sorted[2_000]).toBeLessThan(65);
    expect(sorted[0]).toBeGreaterThanOrEqual(20);
    expect(sorted.at(-1)).toBeLessThanOrEqual(240);
    expect(sorted[3_800]).toBeGreaterThan(100);
  });

  it('grow with duration and resolution', () => {
    const median = (durationSeconds: number, resolution: string) => times(durationSeconds, resolution)[2_000] ?? 0;
    expect(median(15, '720p')).toBeGreaterThan(median(8, '720p'));
    expect(median(8, '1080p')).toBeGreaterThan(median(8, '720p'));
  });

  it('depend on the seed and the job id alone', () => {
    expect(jobRandoms('a', 'job_1')).toEqual(jobRandoms('a', 'job_1'));
    expect(jobRandoms('a', 'job_1')).not.toEqual(jobRandoms('b', 'job_1'));
    expect(jobRandoms('a', 'job_1')).not.toEqual(jobRandoms('a', 'job_2'));
  });
});

describe('prices, waits and limits of the Sume simulator', () => {
  it('charges the published price: 1.89 dollars for 10 s, 1.512 for 8 s', () => {
    const clip = { model: 'seedance-2-mini', resolution: '720p' };
    expect(priceMicros({ ...clip, durationSeconds: 10 })).toBe(1_890_000);
    expect(priceMicros({ ...clip, durationSeconds: 8 })).toBe(1_512_000);
    expect(priceMicros({ ...clip, model: 'constructor', durationSeconds: 1 })).toBe(250_000);
  });

  it('suggests 15 s while processing, up to 30 s further back in the queue, nothing at the end', () => {
    expect(nextPollAfterSeconds('processing', -1, 1)).toBe(15);
    expect([0, 5, 14, 19].map((place) => nextPollAfterSeconds('queued', place, 1))).toEqual([16, 21, 30, 30]);
    expect(nextPollAfterSeconds('completed', -1, 1)).toBeNull();
    expect([nextPollAfterSeconds('processing', -1, 20), nextPollAfterSeconds('queued', 19, 20)]).toEqual([1, 2]);
  });

  it('counts in windows that open with the first request and close whole', () => {
    const windows = [newWindow(2, 1_000), newWindow(3, 10_000)];
    expect(takeRequest(windows, 500)).toEqual({ allowed: true, limit: 2, remaining: 1, resetSeconds: 1 });
    expect(takeRequest(windows, 600)).toMatchObject({ allowed: true, remaining: 0 });
    expect(takeRequest(windows, 1_499)).toEqual({ allowed: false, limit: 2, remaining: 0, resetSeconds: 1 });
    expect(takeRequest(windows, 1_500)).toEqual({ allowed: true, limit: 3, remaining: 0, resetSeconds: 9 });
    expect(takeRequest(windows, 2_600)).toEqual({ allowed: false, limit: 3, remaining: 0, resetSeconds: 8 });
    expect(takeRequest([], 0)).toBeUndefined();
  });

  it('counts back from each request in a sliding window, and tells when the oldest in it leaves', () => {
    const windows = [newWindow(2, 1_000, 'sliding')];
    expect(takeRequest(windows, 500)).toEqual({ allowed: true, limit: 2, remaining: 1, resetSeconds: 1 });
    expect(takeRequest(windows, 1_499)).toMatchObject({ allowed: true, remaining: 0 });
    expect(takeRequest(windows, 1_499)).toMatchObject({ allowed: false, remaining: 0 });
    expect(takeRequest(windows, 1_500)).toMatchObject({ allowed: true, remaining: 0 });
    expect(takeRequest(windows, 2_498)).toMatchObject({ allowed: false });
    expect(takeRequest(windows, 2_499)).toMatchObject({ allowed: true });
  });

  it('never has more than the limit in any stretch of a sliding window, and up to twice as many in one of a fixed', () => {
    const mostOf = (kind: 'fixed' | 'sliding') => {
      const windows = [newWindow(5, 1_000, kind)];
      const times: number[] = [];
      // One opens the window; the others come in bursts around the end of each second.
      for (let ms = 0; ms < 20_000; ms += 10) {
        const inBurst = ms === 0 || ms % 1_000 > 900 || (ms > 900 && ms % 1_000 < 100);
        if (inBurst && takeRequest(windows, ms)?.allowed) times.push(ms);
      }
      return Math.max(...times.map((start) => times.filter((ms) => ms >= start && ms < start + 1_000).length));
    };
    expect(mostOf('sliding')).toBe(5);
    expect(mostOf('fixed')).toBeGreaterThan(5);
  });

  it('spreads render times evenly over a range', () => {
    const seconds = Array.from({ length: 1_000 }, (_, index) => evenly({ least: 20, most: 60 }, index / 1_000));
    expect([seconds[0], seconds[500], seconds[999]]).toEqual([20, 40, 59.96]);
  });

  it('names the option that cannot be used', () => {
    expect(() => readSettings({ renderSeconds: { least: 5, most: 4 } })).toThrow(/renderSeconds is 5 to 4/);
    expect(() => readSettings({ window: 'slide' as 'sliding' })).toThrow(/window is slide; expected fixed or sliding/);
    expect(() => readSettings({ timeScale: 0 })).toThrow(/timeScale is 0; expected a number above 0/);
    expect(() => readSettings({ failureShare: 2 })).toThrow(/failureShare/);
    expect(() => readSettings({ limits: { queued: -1 } })).toThrow(/limits\.queued/);
  });
});

describe('idempotency keys of the Sume simulator', () => {
  it('see through the order of fields and nothing else', () => {
    const print = (body: unknown) => fingerprint('POST /videos', body);
    expect(print({ a: 1, b: { c: [1, 2], d: null } })).toBe(print({ b: { d: null, c: [1, 2] }, a: 1 }));
    expect(print({ a: [1, 2] })).not.toBe(print({ a: [2, 1] }));
    expect(print({ a: 1 })).not.toBe(print({ a: '1' }));
    expect(fingerprint('POST /videos', {})).not.toBe(fingerprint('POST /jobs/1/cancel', {}));
  });

  it('are 1 to 255 visible characters', () => {
    expect(['a', 'x'.repeat(255)].every(isValidKey)).toBe(true);
    expect(['', 'x'.repeat(256), 'a b', 'ä', 'a\n'].some(isValidKey)).toBe(false);
  });
});

describe('routes of the Sume simulator', () => {
  it('are found with and without /v1 in front', () => {
    for (const prefix of ['', '/v1']) {
      expect(findRoute('GET', `${prefix}/jobs/job_1/status`)).toEqual({ found: true, kind: 'status', jobId: 'job_1' });
      expect(findRoute('POST', `${prefix}/videos`)).toMatchObject({ kind: 'create' });
      expect(findRoute('GET', `${prefix}/health`)).toMatchObject({ kind: 'health' });
    }
  });

  it('tell a wrong method from a wrong path', () => {
    expect(findRoute('DELETE', '/v1/jobs/job_1')).toEqual({ found: false, allow: 'GET' });
    expect(findRoute('GET', '/v1/videos')).toEqual({ found: false, allow: 'POST' });
    for (const path of ['/v1/jobs/', '/v1/jobs//status', '/v1/jobs/a/b/c', '/v2/jobs', '/v1/constructor']) {
      expect(findRoute('GET', path)).toEqual({ found: false, allow: undefined });
    }
    expect(findRoute('GET', '/v1/jobs/a%2Fb')).toMatchObject({ kind: 'job', jobId: 'a/b' });
    expect(findRoute('GET', '/v1/jobs/%E0%A4')).toMatchObject({ kind: 'job', jobId: '%E0%A4' });
  });
});

describe('media of the Sume simulator', () => {
  it('is a well-formed MP4: boxes that fill the file exactly, the sample where the table says', () => {
    const file = clipFile(8, { y: 100, cb: 110, cr: 120 });
    const boxes: [string, number][] = [];
    for (let at = 0; at < file.length; at += file.readUInt32BE(at)) {
      boxes.push([file.toString('latin1', at + 4, at + 8), at]);
    }
    expect(boxes.map(([type]) => type)).toEqual(['ftyp', 'moov', 'mdat']);
    const sampleAt = file.readUInt32BE(file.indexOf('stco') + 12);
    expect(sampleAt).toBe((boxes[2]?.[1] ?? 0) + 8);
    expect(file.readUInt32BE(sampleAt)).toBe(file.length - sampleAt - 4);
    expect(file[sampleAt + 4]).toBe(0x65);
    expect(file.readUInt32BE(file.indexOf('mvhd') + 20)).toBe(8_000);
  });

  it('is addressed by a signature that binds job and expiry', () => {
    const query = (path: string) => new URLSearchParams(path.split('?')[1]);
    const signed = query(signMediaPath('secret', 'job_1', 100));
    expect(checkMediaQuery('secret', 'job_1', signed, 99_999)).toBe('valid');
    expect(checkMediaQuery('secret', 'job_1', signed, 100_000)).toBe('expired');
    expect(checkMediaQuery('secret', 'job_2', signed, 0)).toBe('forged');
    signed.set('expires', '999');
    expect(checkMediaQuery('secret', 'job_1', signed, 0)).toBe('forged');
    expect(checkMediaQuery('secret', 'job_1', new URLSearchParams(), 0)).toBe('forged');
  });

  it('is cut into ranges as asked, and whole when the asking makes no sense', () => {
    expect(readByteRange('bytes=0-9', 100)).toEqual({ first: 0, last: 9 });
    expect(readByteRange('bytes=90-', 100)).toEqual({ first: 90, last: 99 });
    expect(readByteRange('bytes=90-500', 100)).toEqual({ first: 90, last: 99 });
    expect(readByteRange('bytes=-10', 100)).toEqual({ first: 90, last: 99 });
    for (const header of [undefined, 'bytes=5-2', 'bytes=-', 'lines=1-2', 'bytes=0-1,3-4']) {
      expect(readByteRange(header, 100)).toBe('whole');
    }
    for (const header of ['bytes=100-', 'bytes=-0']) expect(readByteRange(header, 100)).toBe('unsatisfiable');
  });
});
