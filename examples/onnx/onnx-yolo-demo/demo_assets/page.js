const WORKER_TEXT = "\"use strict\";\n(() => {\n  var __require = /* @__PURE__ */ ((x) => typeof require !== \"undefined\" ? require : typeof Proxy !== \"undefined\" ? new Proxy(x, {\n    get: (a, b) => (typeof require !== \"undefined\" ? require : a)[b]\n  }) : x)(function(x) {\n    if (typeof require !== \"undefined\") return require.apply(this, arguments);\n    throw Error('Dynamic require of \"' + x + '\" is not supported');\n  });\n\n  // node_modules/onnxruntime-web/dist/ort.webgpu.min.mjs\n  var import_meta = {};\n  var nt = Object.defineProperty;\n  var Hr = Object.getOwnPropertyDescriptor;\n  var Jr = Object.getOwnPropertyNames;\n  var qr = Object.prototype.hasOwnProperty;\n  var ot = ((t) => typeof __require < \"u\" ? __require : typeof Proxy < \"u\" ? new Proxy(t, { get: (e, r) => (typeof __require < \"u\" ? __require : e)[r] }) : t)(function(t) {\n    if (typeof __require < \"u\") return __require.apply(this, arguments);\n    throw Error('Dynamic require of \"' + t + '\" is not supported');\n  });\n  var T = (t, e, r) => () => {\n    if (r) throw r[0];\n    try {\n      return t && (e = t(t = 0)), e;\n    } catch (o) {\n      throw r = [o], o;\n    }\n  };\n  var ve = (t, e) => {\n    for (var r in e) nt(t, r, { get: e[r], enumerable: true });\n  };\n  var Yr = (t, e, r, o) => {\n    if (e && typeof e == \"object\" || typeof e == \"function\") for (let n of Jr(e)) !qr.call(t, n) && n !== r && nt(t, n, { get: () => e[n], enumerable: !(o = Hr(e, n)) || o.enumerable });\n    return t;\n  };\n  var st = (t) => Yr(nt({}, \"__esModule\", { value: true }), t);\n  var Be;\n  var ne;\n  var oe;\n  var Xr;\n  var Bt;\n  var at = T(() => {\n    \"use strict\";\n    Be = /* @__PURE__ */ new Map(), ne = [], oe = (t, e, r) => {\n      if (e && typeof e.init == \"function\" && typeof e.createInferenceSessionHandler == \"function\") {\n        let o = Be.get(t);\n        if (o === void 0) Be.set(t, { backend: e, priority: r });\n        else {\n          if (o.priority > r) return;\n          if (o.priority === r && o.backend !== e) throw new Error(`cannot register backend \"${t}\" using priority ${r}`);\n        }\n        if (r >= 0) {\n          let n = ne.indexOf(t);\n          n !== -1 && ne.splice(n, 1);\n          for (let s = 0; s < ne.length; s++) if (Be.get(ne[s]).priority <= r) {\n            ne.splice(s, 0, t);\n            return;\n          }\n          ne.push(t);\n        }\n        return;\n      }\n      throw new TypeError(\"not a valid backend\");\n    }, Xr = async (t) => {\n      let e = Be.get(t);\n      if (!e) return \"backend not found.\";\n      if (e.initialized) return e.backend;\n      if (e.aborted) return e.error;\n      {\n        let r = !!e.initPromise;\n        try {\n          return r || (e.initPromise = e.backend.init(t)), await e.initPromise, e.initialized = true, e.backend;\n        } catch (o) {\n          return r || (e.error = `${o}`, e.aborted = true), e.error;\n        } finally {\n          delete e.initPromise;\n        }\n      }\n    }, Bt = async (t) => {\n      let e = t.executionProviders || [], r = e.map((u) => typeof u == \"string\" ? u : u.name), o = r.length === 0 ? ne : r, n, s = [], a = /* @__PURE__ */ new Set();\n      for (let u of o) {\n        let f = await Xr(u);\n        typeof f == \"string\" ? s.push({ name: u, err: f }) : (n || (n = f), n === f && a.add(u));\n      }\n      if (!n) throw new Error(`no available backend found. ERR: ${s.map((u) => `[${u.name}] ${u.err}`).join(\", \")}`);\n      for (let { name: u, err: f } of s) r.includes(u) && console.warn(`removing requested execution provider \"${u}\" from session options because it is not available: ${f}`);\n      let i = e.filter((u) => a.has(typeof u == \"string\" ? u : u.name));\n      return [n, new Proxy(t, { get: (u, f) => f === \"executionProviders\" ? i : Reflect.get(u, f) })];\n    };\n  });\n  var Mt = T(() => {\n    \"use strict\";\n    at();\n  });\n  var xt;\n  var Ot = T(() => {\n    \"use strict\";\n    xt = \"1.30.0\";\n  });\n  var Dt;\n  var U;\n  var it = T(() => {\n    \"use strict\";\n    Ot();\n    Dt = \"warning\", U = { wasm: {}, webgl: {}, webgpu: {}, versions: { common: xt }, set logLevel(t) {\n      if (t !== void 0) {\n        if (typeof t != \"string\" || [\"verbose\", \"info\", \"warning\", \"error\", \"fatal\"].indexOf(t) === -1) throw new Error(`Unsupported logging level: ${t}`);\n        Dt = t;\n      }\n    }, get logLevel() {\n      return Dt;\n    } };\n    Object.defineProperty(U, \"logLevel\", { enumerable: true });\n  });\n  var v;\n  var Ut = T(() => {\n    \"use strict\";\n    it();\n    v = U;\n  });\n  var Ct;\n  var Pt;\n  var _t = T(() => {\n    \"use strict\";\n    Ct = (t, e) => {\n      let r = typeof document < \"u\" ? document.createElement(\"canvas\") : new OffscreenCanvas(1, 1);\n      r.width = t.dims[3], r.height = t.dims[2];\n      let o = r.getContext(\"2d\");\n      if (o != null) {\n        let n, s;\n        e?.tensorLayout !== void 0 && e.tensorLayout === \"NHWC\" ? (n = t.dims[2], s = t.dims[3]) : (n = t.dims[3], s = t.dims[2]);\n        let a = e?.format !== void 0 ? e.format : \"RGB\", i = e?.norm, u, f;\n        i === void 0 || i.mean === void 0 ? u = [255, 255, 255, 255] : typeof i.mean == \"number\" ? u = [i.mean, i.mean, i.mean, i.mean] : (u = [i.mean[0], i.mean[1], i.mean[2], 0], i.mean[3] !== void 0 && (u[3] = i.mean[3])), i === void 0 || i.bias === void 0 ? f = [0, 0, 0, 0] : typeof i.bias == \"number\" ? f = [i.bias, i.bias, i.bias, i.bias] : (f = [i.bias[0], i.bias[1], i.bias[2], 0], i.bias[3] !== void 0 && (f[3] = i.bias[3]));\n        let d = s * n, p = 0, c = d, l = d * 2, h = -1;\n        a === \"RGBA\" ? (p = 0, c = d, l = d * 2, h = d * 3) : a === \"RGB\" ? (p = 0, c = d, l = d * 2) : a === \"RBG\" && (p = 0, l = d, c = d * 2);\n        for (let b = 0; b < s; b++) for (let E = 0; E < n; E++) {\n          let y = (t.data[p++] - f[0]) * u[0], m = (t.data[c++] - f[1]) * u[1], A = (t.data[l++] - f[2]) * u[2], w = h === -1 ? 255 : (t.data[h++] - f[3]) * u[3];\n          o.fillStyle = \"rgba(\" + y + \",\" + m + \",\" + A + \",\" + w + \")\", o.fillRect(E, b, 1, 1);\n        }\n        if (\"toDataURL\" in r) return r.toDataURL();\n        throw new Error(\"toDataURL is not supported\");\n      } else throw new Error(\"Can not access image data\");\n    }, Pt = (t, e) => {\n      let r = typeof document < \"u\" ? document.createElement(\"canvas\").getContext(\"2d\") : new OffscreenCanvas(1, 1).getContext(\"2d\"), o;\n      if (r != null) {\n        let n, s, a;\n        e?.tensorLayout !== void 0 && e.tensorLayout === \"NHWC\" ? (n = t.dims[2], s = t.dims[1], a = t.dims[3]) : (n = t.dims[3], s = t.dims[2], a = t.dims[1]);\n        let i = e !== void 0 && e.format !== void 0 ? e.format : \"RGB\", u = e?.norm, f, d;\n        u === void 0 || u.mean === void 0 ? f = [255, 255, 255, 255] : typeof u.mean == \"number\" ? f = [u.mean, u.mean, u.mean, u.mean] : (f = [u.mean[0], u.mean[1], u.mean[2], 255], u.mean[3] !== void 0 && (f[3] = u.mean[3])), u === void 0 || u.bias === void 0 ? d = [0, 0, 0, 0] : typeof u.bias == \"number\" ? d = [u.bias, u.bias, u.bias, u.bias] : (d = [u.bias[0], u.bias[1], u.bias[2], 0], u.bias[3] !== void 0 && (d[3] = u.bias[3]));\n        let p = s * n;\n        if (e !== void 0 && (e.format !== void 0 && a === 4 && e.format !== \"RGBA\" || a === 3 && e.format !== \"RGB\" && e.format !== \"BGR\")) throw new Error(\"Tensor format doesn't match input tensor dims\");\n        let c = 4, l = 0, h = 1, b = 2, E = 3, y = 0, m = p, A = p * 2, w = -1;\n        i === \"RGBA\" ? (y = 0, m = p, A = p * 2, w = p * 3) : i === \"RGB\" ? (y = 0, m = p, A = p * 2) : i === \"RBG\" && (y = 0, A = p, m = p * 2), o = r.createImageData(n, s);\n        for (let L = 0; L < s * n; l += c, h += c, b += c, E += c, L++) o.data[l] = (t.data[y++] - d[0]) * f[0], o.data[h] = (t.data[m++] - d[1]) * f[1], o.data[b] = (t.data[A++] - d[2]) * f[2], o.data[E] = w === -1 ? 255 : (t.data[w++] - d[3]) * f[3];\n      } else throw new Error(\"Can not access image data\");\n      return o;\n    };\n  });\n  var ut;\n  var Rt;\n  var Nt;\n  var Ft;\n  var Wt;\n  var kt;\n  var Gt = T(() => {\n    \"use strict\";\n    Me();\n    ut = (t, e) => {\n      if (t === void 0) throw new Error(\"Image buffer must be defined\");\n      if (e.height === void 0 || e.width === void 0) throw new Error(\"Image height and width must be defined\");\n      if (e.tensorLayout === \"NHWC\") throw new Error(\"NHWC Tensor layout is not supported yet\");\n      let { height: r, width: o } = e, n = e.norm ?? { mean: 255, bias: 0 }, s, a;\n      typeof n.mean == \"number\" ? s = [n.mean, n.mean, n.mean, n.mean] : s = [n.mean[0], n.mean[1], n.mean[2], n.mean[3] ?? 255], typeof n.bias == \"number\" ? a = [n.bias, n.bias, n.bias, n.bias] : a = [n.bias[0], n.bias[1], n.bias[2], n.bias[3] ?? 0];\n      let i = e.format !== void 0 ? e.format : \"RGBA\", u = e.tensorFormat !== void 0 && e.tensorFormat !== void 0 ? e.tensorFormat : \"RGB\", f = r * o, d = u === \"RGBA\" ? new Float32Array(f * 4) : new Float32Array(f * 3), p = 4, c = 0, l = 1, h = 2, b = 3, E = 0, y = f, m = f * 2, A = -1;\n      i === \"RGB\" && (p = 3, c = 0, l = 1, h = 2, b = -1), u === \"RGBA\" ? A = f * 3 : u === \"RBG\" ? (E = 0, m = f, y = f * 2) : u === \"BGR\" && (m = 0, y = f, E = f * 2);\n      for (let L = 0; L < f; L++, c += p, h += p, l += p, b += p) d[E++] = (t[c] + a[0]) / s[0], d[y++] = (t[l] + a[1]) / s[1], d[m++] = (t[h] + a[2]) / s[2], A !== -1 && b !== -1 && (d[A++] = (t[b] + a[3]) / s[3]);\n      return u === \"RGBA\" ? new _(\"float32\", d, [1, 4, r, o]) : new _(\"float32\", d, [1, 3, r, o]);\n    }, Rt = async (t, e) => {\n      let r = typeof HTMLImageElement < \"u\" && t instanceof HTMLImageElement, o = typeof ImageData < \"u\" && t instanceof ImageData, n = typeof ImageBitmap < \"u\" && t instanceof ImageBitmap, s = typeof t == \"string\", a, i = e ?? {}, u = () => {\n        if (typeof document < \"u\") return document.createElement(\"canvas\");\n        if (typeof OffscreenCanvas < \"u\") return new OffscreenCanvas(1, 1);\n        throw new Error(\"Canvas is not supported\");\n      }, f = (d) => typeof HTMLCanvasElement < \"u\" && d instanceof HTMLCanvasElement || d instanceof OffscreenCanvas ? d.getContext(\"2d\") : null;\n      if (r) {\n        let d = u();\n        d.width = t.width, d.height = t.height;\n        let p = f(d);\n        if (p != null) {\n          let c = t.height, l = t.width;\n          if (e !== void 0 && e.resizedHeight !== void 0 && e.resizedWidth !== void 0 && (c = e.resizedHeight, l = e.resizedWidth), e !== void 0) {\n            if (i = e, e.tensorFormat !== void 0) throw new Error(\"Image input config format must be RGBA for HTMLImageElement\");\n            i.tensorFormat = \"RGBA\", i.height = c, i.width = l;\n          } else i.tensorFormat = \"RGBA\", i.height = c, i.width = l;\n          p.drawImage(t, 0, 0), a = p.getImageData(0, 0, l, c).data;\n        } else throw new Error(\"Can not access image data\");\n      } else if (o) {\n        let d, p;\n        if (e !== void 0 && e.resizedWidth !== void 0 && e.resizedHeight !== void 0 ? (d = e.resizedHeight, p = e.resizedWidth) : (d = t.height, p = t.width), e !== void 0 && (i = e), i.format = \"RGBA\", i.height = d, i.width = p, e !== void 0) {\n          let c = u();\n          c.width = p, c.height = d;\n          let l = f(c);\n          if (l != null) l.putImageData(t, 0, 0), a = l.getImageData(0, 0, p, d).data;\n          else throw new Error(\"Can not access image data\");\n        } else a = t.data;\n      } else if (n) {\n        if (e === void 0) throw new Error(\"Please provide image config with format for Imagebitmap\");\n        let d = u();\n        d.width = t.width, d.height = t.height;\n        let p = f(d);\n        if (p != null) {\n          let c = t.height, l = t.width;\n          return p.drawImage(t, 0, 0, l, c), a = p.getImageData(0, 0, l, c).data, i.height = c, i.width = l, ut(a, i);\n        } else throw new Error(\"Can not access image data\");\n      } else {\n        if (s) return new Promise((d, p) => {\n          let c = u(), l = f(c);\n          if (!t || !l) return p();\n          let h = new Image();\n          h.crossOrigin = \"Anonymous\", h.src = t, h.onload = () => {\n            c.width = h.width, c.height = h.height, l.drawImage(h, 0, 0, c.width, c.height);\n            let b = l.getImageData(0, 0, c.width, c.height);\n            i.height = c.height, i.width = c.width, d(ut(b.data, i));\n          };\n        });\n        throw new Error(\"Input data provided is not supported - aborted tensor creation\");\n      }\n      if (a !== void 0) return ut(a, i);\n      throw new Error(\"Input data provided is not supported - aborted tensor creation\");\n    }, Nt = (t, e) => {\n      let { width: r, height: o, download: n, dispose: s } = e, a = [1, o, r, 4];\n      return new _({ location: \"texture\", type: \"float32\", texture: t, dims: a, download: n, dispose: s });\n    }, Ft = (t, e) => {\n      let { dataType: r, dims: o, download: n, dispose: s } = e;\n      return new _({ location: \"gpu-buffer\", type: r ?? \"float32\", gpuBuffer: t, dims: o, download: n, dispose: s });\n    }, Wt = (t, e) => {\n      let { dataType: r, dims: o, download: n, dispose: s } = e;\n      return new _({ location: \"ml-tensor\", type: r ?? \"float32\", mlTensor: t, dims: o, download: n, dispose: s });\n    }, kt = (t, e, r) => new _({ location: \"cpu-pinned\", type: t, data: e, dims: r ?? [e.length] });\n  });\n  var se;\n  var we;\n  var $t;\n  var zt;\n  var Vt = T(() => {\n    \"use strict\";\n    se = /* @__PURE__ */ new Map([[\"float32\", Float32Array], [\"uint8\", Uint8Array], [\"int8\", Int8Array], [\"uint16\", Uint16Array], [\"int16\", Int16Array], [\"int32\", Int32Array], [\"bool\", Uint8Array], [\"float64\", Float64Array], [\"uint32\", Uint32Array], [\"int4\", Uint8Array], [\"uint4\", Uint8Array]]), we = /* @__PURE__ */ new Map([[Float32Array, \"float32\"], [Uint8Array, \"uint8\"], [Int8Array, \"int8\"], [Uint16Array, \"uint16\"], [Int16Array, \"int16\"], [Int32Array, \"int32\"], [Float64Array, \"float64\"], [Uint32Array, \"uint32\"]]), $t = false, zt = () => {\n      if (!$t) {\n        $t = true;\n        let t = typeof BigInt64Array < \"u\" && BigInt64Array.from, e = typeof BigUint64Array < \"u\" && BigUint64Array.from, r = globalThis.Float16Array, o = typeof r < \"u\" && r.from;\n        t && (se.set(\"int64\", BigInt64Array), we.set(BigInt64Array, \"int64\")), e && (se.set(\"uint64\", BigUint64Array), we.set(BigUint64Array, \"uint64\")), o ? (se.set(\"float16\", r), we.set(r, \"float16\")) : se.set(\"float16\", Uint16Array);\n      }\n    };\n  });\n  var jt;\n  var Ht;\n  var Jt = T(() => {\n    \"use strict\";\n    Me();\n    jt = (t) => {\n      let e = 1;\n      for (let r = 0; r < t.length; r++) {\n        let o = t[r];\n        if (typeof o != \"number\" || !Number.isSafeInteger(o)) throw new TypeError(`dims[${r}] must be an integer, got: ${o}`);\n        if (o < 0) throw new RangeError(`dims[${r}] must be a non-negative integer, got: ${o}`);\n        e *= o;\n      }\n      return e;\n    }, Ht = (t, e) => {\n      switch (t.location) {\n        case \"cpu\":\n          return new _(t.type, t.data, e);\n        case \"cpu-pinned\":\n          return new _({ location: \"cpu-pinned\", data: t.data, type: t.type, dims: e });\n        case \"texture\":\n          return new _({ location: \"texture\", texture: t.texture, type: t.type, dims: e });\n        case \"gpu-buffer\":\n          return new _({ location: \"gpu-buffer\", gpuBuffer: t.gpuBuffer, type: t.type, dims: e });\n        case \"ml-tensor\":\n          return new _({ location: \"ml-tensor\", mlTensor: t.mlTensor, type: t.type, dims: e });\n        default:\n          throw new Error(`tensorReshape: tensor location ${t.location} is not supported`);\n      }\n    };\n  });\n  var _;\n  var Me = T(() => {\n    \"use strict\";\n    _t();\n    Gt();\n    Vt();\n    Jt();\n    _ = class {\n      constructor(e, r, o) {\n        zt();\n        let n, s;\n        if (typeof e == \"object\" && \"location\" in e) switch (this.dataLocation = e.location, n = e.type, s = e.dims, e.location) {\n          case \"cpu-pinned\": {\n            let i = se.get(n);\n            if (!i) throw new TypeError(`unsupported type \"${n}\" to create tensor from pinned buffer`);\n            if (!(e.data instanceof i)) throw new TypeError(`buffer should be of type ${i.name}`);\n            this.cpuData = e.data;\n            break;\n          }\n          case \"texture\": {\n            if (n !== \"float32\") throw new TypeError(`unsupported type \"${n}\" to create tensor from texture`);\n            this.gpuTextureData = e.texture, this.downloader = e.download, this.disposer = e.dispose;\n            break;\n          }\n          case \"gpu-buffer\": {\n            if (n !== \"float32\" && n !== \"float16\" && n !== \"int32\" && n !== \"int64\" && n !== \"uint32\" && n !== \"uint8\" && n !== \"bool\" && n !== \"uint4\" && n !== \"int4\") throw new TypeError(`unsupported type \"${n}\" to create tensor from gpu buffer`);\n            this.gpuBufferData = e.gpuBuffer, this.downloader = e.download, this.disposer = e.dispose;\n            break;\n          }\n          case \"ml-tensor\": {\n            if (n !== \"float32\" && n !== \"float16\" && n !== \"int32\" && n !== \"int64\" && n !== \"uint32\" && n !== \"uint64\" && n !== \"int8\" && n !== \"uint8\" && n !== \"bool\" && n !== \"uint4\" && n !== \"int4\") throw new TypeError(`unsupported type \"${n}\" to create tensor from MLTensor`);\n            this.mlTensorData = e.mlTensor, this.downloader = e.download, this.disposer = e.dispose;\n            break;\n          }\n          default:\n            throw new Error(`Tensor constructor: unsupported location '${this.dataLocation}'`);\n        }\n        else {\n          let i, u;\n          if (typeof e == \"string\") if (n = e, u = o, e === \"string\") {\n            if (!Array.isArray(r)) throw new TypeError(\"A string tensor's data must be a string array.\");\n            i = r;\n          } else {\n            let f = se.get(e);\n            if (f === void 0) throw new TypeError(`Unsupported tensor type: ${e}.`);\n            if (Array.isArray(r)) {\n              if (e === \"float16\" && f === Uint16Array || e === \"uint4\" || e === \"int4\") throw new TypeError(`Creating a ${e} tensor from number array is not supported. Please use ${f.name} as data.`);\n              e === \"uint64\" || e === \"int64\" ? i = f.from(r, BigInt) : i = f.from(r);\n            } else if (r instanceof f) i = r;\n            else if (r instanceof Uint8ClampedArray) if (e === \"uint8\") i = Uint8Array.from(r);\n            else throw new TypeError(\"A Uint8ClampedArray tensor's data must be type of uint8\");\n            else if (e === \"float16\" && r instanceof Uint16Array && f !== Uint16Array) i = new globalThis.Float16Array(r.buffer, r.byteOffset, r.length);\n            else throw new TypeError(`A ${n} tensor's data must be type of ${f}`);\n          }\n          else if (u = r, Array.isArray(e)) {\n            if (e.length === 0) throw new TypeError(\"Tensor type cannot be inferred from an empty array.\");\n            let f = typeof e[0];\n            if (f === \"string\") n = \"string\", i = e;\n            else if (f === \"boolean\") n = \"bool\", i = Uint8Array.from(e);\n            else throw new TypeError(`Invalid element type of data array: ${f}.`);\n          } else if (e instanceof Uint8ClampedArray) n = \"uint8\", i = Uint8Array.from(e);\n          else {\n            let f = we.get(e.constructor);\n            if (f === void 0) throw new TypeError(`Unsupported type for tensor data: ${e.constructor}.`);\n            n = f, i = e;\n          }\n          if (u === void 0) u = [i.length];\n          else if (!Array.isArray(u)) throw new TypeError(\"A tensor's dims must be a number array\");\n          s = u, this.cpuData = i, this.dataLocation = \"cpu\";\n        }\n        let a = jt(s);\n        if (this.cpuData && a !== this.cpuData.length && !((n === \"uint4\" || n === \"int4\") && Math.ceil(a / 2) === this.cpuData.length)) throw new Error(`Tensor's size(${a}) does not match data length(${this.cpuData.length}).`);\n        this.type = n, this.dims = s, this.size = a;\n      }\n      static async fromImage(e, r) {\n        return Rt(e, r);\n      }\n      static fromTexture(e, r) {\n        return Nt(e, r);\n      }\n      static fromGpuBuffer(e, r) {\n        return Ft(e, r);\n      }\n      static fromMLTensor(e, r) {\n        return Wt(e, r);\n      }\n      static fromPinnedBuffer(e, r, o) {\n        return kt(e, r, o);\n      }\n      toDataURL(e) {\n        return Ct(this, e);\n      }\n      toImageData(e) {\n        return Pt(this, e);\n      }\n      get data() {\n        if (this.ensureValid(), !this.cpuData) throw new Error(\"The data is not on CPU. Use `getData()` to download GPU data to CPU, or use `texture` or `gpuBuffer` property to access the GPU data directly.\");\n        return this.cpuData;\n      }\n      get location() {\n        return this.dataLocation;\n      }\n      get texture() {\n        if (this.ensureValid(), !this.gpuTextureData) throw new Error(\"The data is not stored as a WebGL texture.\");\n        return this.gpuTextureData;\n      }\n      get gpuBuffer() {\n        if (this.ensureValid(), !this.gpuBufferData) throw new Error(\"The data is not stored as a WebGPU buffer.\");\n        return this.gpuBufferData;\n      }\n      get mlTensor() {\n        if (this.ensureValid(), !this.mlTensorData) throw new Error(\"The data is not stored as a WebNN MLTensor.\");\n        return this.mlTensorData;\n      }\n      async getData(e) {\n        switch (this.ensureValid(), this.dataLocation) {\n          case \"cpu\":\n          case \"cpu-pinned\":\n            return this.data;\n          case \"texture\":\n          case \"gpu-buffer\":\n          case \"ml-tensor\": {\n            if (!this.downloader) throw new Error(\"The current tensor is not created with a specified data downloader.\");\n            if (this.isDownloading) throw new Error(\"The current tensor is being downloaded.\");\n            try {\n              this.isDownloading = true;\n              let r = await this.downloader();\n              return this.downloader = void 0, this.dataLocation = \"cpu\", this.cpuData = r, e && this.disposer && (this.disposer(), this.disposer = void 0), r;\n            } finally {\n              this.isDownloading = false;\n            }\n          }\n          default:\n            throw new Error(`cannot get data from location: ${this.dataLocation}`);\n        }\n      }\n      dispose() {\n        if (this.isDownloading) throw new Error(\"The current tensor is being downloaded.\");\n        this.disposer && (this.disposer(), this.disposer = void 0), this.cpuData = void 0, this.gpuTextureData = void 0, this.gpuBufferData = void 0, this.mlTensorData = void 0, this.downloader = void 0, this.isDownloading = void 0, this.dataLocation = \"none\";\n      }\n      ensureValid() {\n        if (this.dataLocation === \"none\") throw new Error(\"The tensor is disposed.\");\n      }\n      reshape(e) {\n        if (this.ensureValid(), this.downloader || this.disposer) throw new Error(\"Cannot reshape a tensor that owns GPU resource.\");\n        return Ht(this, e);\n      }\n    };\n  });\n  var V;\n  var ft = T(() => {\n    \"use strict\";\n    Me();\n    V = _;\n  });\n  var qt;\n  var Yt;\n  var ae;\n  var ie;\n  var Z;\n  var K;\n  var ct = T(() => {\n    \"use strict\";\n    it();\n    qt = (t, e) => {\n      (typeof U.trace > \"u\" ? !U.wasm.trace : !U.trace) || console.timeStamp(`${t}::ORT::${e}`);\n    }, Yt = (t, e) => {\n      let r = new Error().stack?.split(/\\r\\n|\\r|\\n/g) || [], o = false;\n      for (let n = 0; n < r.length; n++) {\n        if (o && !r[n].includes(\"TRACE_FUNC\")) {\n          let s = `FUNC_${t}::${r[n].trim().split(\" \")[1]}`;\n          e && (s += `::${e}`), qt(\"CPU\", s);\n          return;\n        }\n        r[n].includes(\"TRACE_FUNC\") && (o = true);\n      }\n    }, ae = (t) => {\n      (typeof U.trace > \"u\" ? !U.wasm.trace : !U.trace) || Yt(\"BEGIN\", t);\n    }, ie = (t) => {\n      (typeof U.trace > \"u\" ? !U.wasm.trace : !U.trace) || Yt(\"END\", t);\n    }, Z = (t) => {\n      (typeof U.trace > \"u\" ? !U.wasm.trace : !U.trace) || console.time(`ORT::${t}`);\n    }, K = (t) => {\n      (typeof U.trace > \"u\" ? !U.wasm.trace : !U.trace) || console.timeEnd(`ORT::${t}`);\n    };\n  });\n  var xe;\n  var Xt = T(() => {\n    \"use strict\";\n    at();\n    ft();\n    ct();\n    xe = class t {\n      constructor(e) {\n        this.handler = e;\n      }\n      async run(e, r, o) {\n        ae(), Z(\"InferenceSession.run\");\n        let n = {}, s = {};\n        if (typeof e != \"object\" || e === null || e instanceof V || Array.isArray(e)) throw new TypeError(\"'feeds' must be an object that use input names as keys and OnnxValue as corresponding values.\");\n        let a = true;\n        if (typeof r == \"object\") {\n          if (r === null) throw new TypeError(\"Unexpected argument[1]: cannot be null.\");\n          if (r instanceof V) throw new TypeError(\"'fetches' cannot be a Tensor\");\n          if (Array.isArray(r)) {\n            if (r.length === 0) throw new TypeError(\"'fetches' cannot be an empty array.\");\n            a = false;\n            for (let f of r) {\n              if (typeof f != \"string\") throw new TypeError(\"'fetches' must be a string array or an object.\");\n              if (this.outputNames.indexOf(f) === -1) throw new RangeError(`'fetches' contains invalid output name: ${f}.`);\n              n[f] = null;\n            }\n            if (typeof o == \"object\" && o !== null) s = o;\n            else if (typeof o < \"u\") throw new TypeError(\"'options' must be an object.\");\n          } else {\n            let f = false, d = Object.getOwnPropertyNames(r);\n            for (let p of this.outputNames) if (d.indexOf(p) !== -1) {\n              let c = r[p];\n              (c === null || c instanceof V) && (f = true, a = false, n[p] = c);\n            }\n            if (f) {\n              if (typeof o == \"object\" && o !== null) s = o;\n              else if (typeof o < \"u\") throw new TypeError(\"'options' must be an object.\");\n            } else s = r;\n          }\n        } else if (typeof r < \"u\") throw new TypeError(\"Unexpected argument[1]: must be 'fetches' or 'options'.\");\n        for (let f of this.inputNames) if (typeof e[f] > \"u\") throw new Error(`input '${f}' is missing in 'feeds'.`);\n        if (a) for (let f of this.outputNames) n[f] = null;\n        let i = await this.handler.run(e, n, s), u = {};\n        for (let f in i) if (Object.hasOwnProperty.call(i, f)) {\n          let d = i[f];\n          d instanceof V ? u[f] = d : u[f] = new V(d.type, d.data, d.dims);\n        }\n        return K(\"InferenceSession.run\"), ie(), u;\n      }\n      async release() {\n        return this.handler.dispose();\n      }\n      static async create(e, r, o, n) {\n        ae(), Z(\"InferenceSession.create\");\n        let s, a = {};\n        if (typeof e == \"string\") {\n          if (s = e, typeof r == \"object\" && r !== null) a = r;\n          else if (typeof r < \"u\") throw new TypeError(\"'options' must be an object.\");\n        } else if (e instanceof Uint8Array) {\n          if (s = e, typeof r == \"object\" && r !== null) a = r;\n          else if (typeof r < \"u\") throw new TypeError(\"'options' must be an object.\");\n        } else if (e instanceof ArrayBuffer || typeof SharedArrayBuffer < \"u\" && e instanceof SharedArrayBuffer) {\n          let d = e, p = 0, c = e.byteLength;\n          if (typeof r == \"object\" && r !== null) a = r;\n          else if (typeof r == \"number\") {\n            if (p = r, !Number.isSafeInteger(p)) throw new RangeError(\"'byteOffset' must be an integer.\");\n            if (p < 0 || p >= d.byteLength) throw new RangeError(`'byteOffset' is out of range [0, ${d.byteLength}).`);\n            if (c = e.byteLength - p, typeof o == \"number\") {\n              if (c = o, !Number.isSafeInteger(c)) throw new RangeError(\"'byteLength' must be an integer.\");\n              if (c <= 0 || p + c > d.byteLength) throw new RangeError(`'byteLength' is out of range (0, ${d.byteLength - p}].`);\n              if (typeof n == \"object\" && n !== null) a = n;\n              else if (typeof n < \"u\") throw new TypeError(\"'options' must be an object.\");\n            } else if (typeof o < \"u\") throw new TypeError(\"'byteLength' must be a number.\");\n          } else if (typeof r < \"u\") throw new TypeError(\"'options' must be an object.\");\n          s = new Uint8Array(d, p, c);\n        } else throw new TypeError(\"Unexpected argument[0]: must be 'path' or 'buffer'.\");\n        let [i, u] = await Bt(a), f = await i.createInferenceSessionHandler(s, u);\n        return K(\"InferenceSession.create\"), ie(), new t(f);\n      }\n      startProfiling() {\n        this.handler.startProfiling();\n      }\n      endProfiling() {\n        this.handler.endProfiling();\n      }\n      get inputNames() {\n        return this.handler.inputNames;\n      }\n      get outputNames() {\n        return this.handler.outputNames;\n      }\n      get inputMetadata() {\n        return this.handler.inputMetadata;\n      }\n      get outputMetadata() {\n        return this.handler.outputMetadata;\n      }\n    };\n  });\n  var Zr;\n  var Zt = T(() => {\n    \"use strict\";\n    Xt();\n    Zr = xe;\n  });\n  var Kt = T(() => {\n    \"use strict\";\n  });\n  var Qt = T(() => {\n    \"use strict\";\n  });\n  var er = T(() => {\n    \"use strict\";\n  });\n  var tr = T(() => {\n    \"use strict\";\n  });\n  var dt = {};\n  ve(dt, { InferenceSession: () => Zr, TRACE: () => qt, TRACE_EVENT_BEGIN: () => Z, TRACE_EVENT_END: () => K, TRACE_FUNC_BEGIN: () => ae, TRACE_FUNC_END: () => ie, Tensor: () => V, env: () => v, registerBackend: () => oe });\n  var Q = T(() => {\n    \"use strict\";\n    Mt();\n    Ut();\n    Zt();\n    ft();\n    Kt();\n    Qt();\n    ct();\n    er();\n    tr();\n  });\n  var Oe = T(() => {\n    \"use strict\";\n  });\n  var sr = {};\n  ve(sr, { default: () => Kr });\n  var nr;\n  var or;\n  var Kr;\n  var ar = T(() => {\n    \"use strict\";\n    pt();\n    ee();\n    De();\n    nr = \"ort-wasm-proxy-worker\", or = globalThis.self?.name === nr;\n    or && (self.onmessage = (t) => {\n      let { type: e, in: r } = t.data;\n      try {\n        switch (e) {\n          case \"init-wasm\":\n            Ue(r.wasm).then(() => {\n              Ce(r).then(() => {\n                postMessage({ type: e });\n              }, (o) => {\n                postMessage({ type: e, err: o });\n              });\n            }, (o) => {\n              postMessage({ type: e, err: o });\n            });\n            break;\n          case \"init-ep\": {\n            let { epName: o, env: n } = r;\n            Pe(n, o).then(() => {\n              postMessage({ type: e });\n            }, (s) => {\n              postMessage({ type: e, err: s });\n            });\n            break;\n          }\n          case \"copy-from\": {\n            let { buffer: o } = r, n = ge(o);\n            postMessage({ type: e, out: n });\n            break;\n          }\n          case \"create\": {\n            let { model: o, options: n } = r;\n            _e(o, n).then((s) => {\n              postMessage({ type: e, out: s });\n            }, (s) => {\n              postMessage({ type: e, err: s });\n            });\n            break;\n          }\n          case \"release\":\n            Re(r), postMessage({ type: e });\n            break;\n          case \"run\": {\n            let { sessionId: o, inputIndices: n, inputs: s, outputIndices: a, options: i } = r;\n            Ne(o, n, s, a, new Array(a.length).fill(null), i).then((u) => {\n              u.some((f) => f[3] !== \"cpu\") ? postMessage({ type: e, err: \"Proxy does not support non-cpu tensor location.\" }) : postMessage({ type: e, out: u }, We([...s, ...u]));\n            }, (u) => {\n              postMessage({ type: e, err: u });\n            });\n            break;\n          }\n          case \"end-profiling\":\n            Fe(r), postMessage({ type: e });\n            break;\n          default:\n        }\n      } catch (o) {\n        postMessage({ type: e, err: o });\n      }\n    });\n    Kr = or ? null : (t) => new Worker(t ?? G, { type: \"module\", name: nr });\n  });\n  var fr;\n  var Qr;\n  var en;\n  var G;\n  var ke;\n  var lt;\n  var tn;\n  var rn;\n  var cr;\n  var nn;\n  var ir;\n  var dr;\n  var ur;\n  var pr;\n  var De = T(() => {\n    \"use strict\";\n    Oe();\n    fr = typeof location > \"u\" ? void 0 : location.origin, Qr = import_meta.url > \"file:\" && import_meta.url < \"file;\", en = () => {\n      if (true) {\n        if (Qr) {\n          let t = URL;\n          return new URL(new t(\"ort.webgpu.min.mjs\", import_meta.url).href, fr).href;\n        }\n        return import_meta.url;\n      }\n    }, G = en(), ke = () => {\n      if (G && !G.startsWith(\"blob:\")) return G.substring(0, G.lastIndexOf(\"/\") + 1);\n    }, lt = (t, e) => {\n      try {\n        let r = e ?? G;\n        return (r ? new URL(t, r) : new URL(t)).origin === fr;\n      } catch {\n        return false;\n      }\n    }, tn = (t, e) => {\n      let r = e ?? G;\n      try {\n        return (r ? new URL(t, r) : new URL(t)).href;\n      } catch {\n        return;\n      }\n    }, rn = (t, e) => `${e ?? \"./\"}${t}`, cr = async (t) => {\n      let r = await (await fetch(t, { credentials: \"same-origin\" })).blob();\n      return URL.createObjectURL(r);\n    }, nn = async (t) => (await import(\n      /*webpackIgnore:true*/\n      /*@vite-ignore*/\n      t\n    )).default, ir = (ar(), st(sr)).default, dr = async () => {\n      if (!G) throw new Error(\"Failed to load proxy worker: cannot determine the script source URL.\");\n      if (lt(G)) return [void 0, ir()];\n      let t = await cr(G);\n      return [t, ir(t)];\n    }, ur = void 0, pr = async (t, e, r, o) => {\n      let n = ur && !(t || e);\n      if (n) if (G) n = lt(G) || o && !r;\n      else if (o && !r) n = true;\n      else throw new Error(\"cannot determine the script source URL.\");\n      if (n) return [void 0, ur];\n      {\n        let s = \"ort-wasm-simd-threaded.asyncify.mjs\", a = t ?? tn(s, e), i = r && a && !lt(a, e), u = i ? await cr(a) : a ?? rn(s, e);\n        return [i ? u : void 0, await nn(u)];\n      }\n    };\n  });\n  var mt;\n  var ht;\n  var Ge;\n  var lr;\n  var on;\n  var sn;\n  var an;\n  var Ue;\n  var I;\n  var ee = T(() => {\n    \"use strict\";\n    De();\n    ht = false, Ge = false, lr = false, on = () => {\n      if (typeof SharedArrayBuffer > \"u\") return false;\n      try {\n        return typeof MessageChannel < \"u\" && new MessageChannel().port1.postMessage(new SharedArrayBuffer(1)), WebAssembly.validate(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 5, 4, 1, 3, 1, 1, 10, 11, 1, 9, 0, 65, 0, 254, 16, 2, 0, 26, 11]));\n      } catch {\n        return false;\n      }\n    }, sn = () => {\n      try {\n        return WebAssembly.validate(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 10, 30, 1, 28, 0, 65, 0, 253, 15, 253, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 253, 186, 1, 26, 11]));\n      } catch {\n        return false;\n      }\n    }, an = () => {\n      try {\n        return WebAssembly.validate(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 19, 1, 17, 0, 65, 1, 253, 15, 65, 2, 253, 15, 65, 3, 253, 15, 253, 147, 2, 11]));\n      } catch {\n        return false;\n      }\n    }, Ue = async (t) => {\n      if (ht) return Promise.resolve();\n      if (Ge) throw new Error(\"multiple calls to 'initializeWebAssembly()' detected.\");\n      if (lr) throw new Error(\"previous call to 'initializeWebAssembly()' failed.\");\n      Ge = true;\n      let e = t.initTimeout, r = t.numThreads;\n      if (t.simd !== false) {\n        if (t.simd === \"relaxed\") {\n          if (!an()) throw new Error(\"Relaxed WebAssembly SIMD is not supported in the current environment.\");\n        } else if (!sn()) throw new Error(\"WebAssembly SIMD is not supported in the current environment.\");\n      }\n      let o = on();\n      r > 1 && !o && (typeof self < \"u\" && !self.crossOriginIsolated && console.warn(\"env.wasm.numThreads is set to \" + r + \", but this will not work unless you enable crossOriginIsolated mode. See https://web.dev/cross-origin-isolation-guide/ for more info.\"), console.warn(\"WebAssembly multi-threading is not supported in the current environment. Falling back to single-threading.\"), t.numThreads = r = 1);\n      let n = t.wasmPaths, s = typeof n == \"string\" ? n : void 0, a = n?.mjs, i = a?.href ?? a, u = n?.wasm, f = u?.href ?? u, d = t.wasmBinary, [p, c] = await pr(i, s, r > 1, !!d || !!f), l = false, h = [];\n      if (e > 0 && h.push(new Promise((b) => {\n        setTimeout(() => {\n          l = true, b();\n        }, e);\n      })), h.push(new Promise((b, E) => {\n        let y = { numThreads: r };\n        if (d) y.wasmBinary = d, y.locateFile = (m) => m;\n        else if (f || s) y.locateFile = (m) => f ?? s + m;\n        else if (i && i.indexOf(\"blob:\") !== 0) y.locateFile = (m) => new URL(m, i).href;\n        else if (p) {\n          let m = ke();\n          m && (y.locateFile = (A) => m + A);\n        }\n        c(y).then((m) => {\n          Ge = false, ht = true, mt = m, b(), p && URL.revokeObjectURL(p);\n        }, (m) => {\n          Ge = false, lr = true, E(m);\n        });\n      })), await Promise.race(h), l) throw new Error(`WebAssembly backend initializing failed due to timeout: ${e}ms`);\n    }, I = () => {\n      if (ht && mt) return mt;\n      throw new Error(\"WebAssembly is not initialized yet.\");\n    };\n  });\n  var F;\n  var Te;\n  var S;\n  var $e = T(() => {\n    \"use strict\";\n    ee();\n    F = (t, e) => {\n      let r = I(), o = r.lengthBytesUTF8(t) + 1, n = r._malloc(o);\n      return r.stringToUTF8(t, n, o), e.push(n), n;\n    }, Te = (t, e, r, o) => {\n      if (typeof t == \"object\" && t !== null) {\n        if (r.has(t)) throw new Error(\"Circular reference in options\");\n        r.add(t);\n      }\n      Object.entries(t).forEach(([n, s]) => {\n        let a = e ? e + n : n;\n        if (typeof s == \"object\") Te(s, a + \".\", r, o);\n        else if (typeof s == \"string\" || typeof s == \"number\") o(a, s.toString());\n        else if (typeof s == \"boolean\") o(a, s ? \"1\" : \"0\");\n        else throw new Error(`Can't handle extra config type: ${typeof s}`);\n      });\n    }, S = (t) => {\n      let e = I(), r = e.stackSave();\n      try {\n        let o = e.PTR_SIZE, n = e.stackAlloc(2 * o);\n        e._OrtGetLastError(n, n + o);\n        let s = Number(e.getValue(n, o === 4 ? \"i32\" : \"i64\")), a = e.getValue(n + o, \"*\"), i = a ? e.UTF8ToString(a) : \"\";\n        throw new Error(`${t} ERROR_CODE: ${s}, ERROR_MESSAGE: ${i}`);\n      } finally {\n        e.stackRestore(r);\n      }\n    };\n  });\n  var mr;\n  var hr = T(() => {\n    \"use strict\";\n    ee();\n    $e();\n    mr = (t) => {\n      let e = I(), r = 0, o = [], n = t || {};\n      try {\n        if (t?.logSeverityLevel === void 0) n.logSeverityLevel = 2;\n        else if (typeof t.logSeverityLevel != \"number\" || !Number.isInteger(t.logSeverityLevel) || t.logSeverityLevel < 0 || t.logSeverityLevel > 4) throw new Error(`log severity level is not valid: ${t.logSeverityLevel}`);\n        if (t?.logVerbosityLevel === void 0) n.logVerbosityLevel = 0;\n        else if (typeof t.logVerbosityLevel != \"number\" || !Number.isInteger(t.logVerbosityLevel)) throw new Error(`log verbosity level is not valid: ${t.logVerbosityLevel}`);\n        t?.terminate === void 0 && (n.terminate = false);\n        let s = 0;\n        return t?.tag !== void 0 && (s = F(t.tag, o)), r = e._OrtCreateRunOptions(n.logSeverityLevel, n.logVerbosityLevel, !!n.terminate, s), r === 0 && S(\"Can't create run options.\"), t?.extra !== void 0 && Te(t.extra, \"\", /* @__PURE__ */ new WeakSet(), (a, i) => {\n          let u = F(a, o), f = F(i, o);\n          e._OrtAddRunConfigEntry(r, u, f) !== 0 && S(`Can't set a run config entry: ${a} - ${i}.`);\n        }), [r, o];\n      } catch (s) {\n        throw r !== 0 && e._OrtReleaseRunOptions(r), o.forEach((a) => e._free(a)), s;\n      }\n    };\n  });\n  var un;\n  var fn;\n  var cn;\n  var Ee;\n  var te;\n  var dn;\n  var yr;\n  var br = T(() => {\n    \"use strict\";\n    ee();\n    $e();\n    un = (t) => {\n      switch (t) {\n        case \"disabled\":\n          return 0;\n        case \"basic\":\n          return 1;\n        case \"extended\":\n          return 2;\n        case \"layout\":\n          return 3;\n        case \"all\":\n          return 99;\n        default:\n          throw new Error(`unsupported graph optimization level: ${t}`);\n      }\n    }, fn = (t) => {\n      switch (t) {\n        case \"sequential\":\n          return 0;\n        case \"parallel\":\n          return 1;\n        default:\n          throw new Error(`unsupported execution mode: ${t}`);\n      }\n    }, cn = (t) => {\n      t.extra || (t.extra = {}), t.extra.session || (t.extra.session = {});\n      let e = t.extra.session;\n      e.use_ort_model_bytes_directly || (e.use_ort_model_bytes_directly = \"1\"), t.executionProviders && t.executionProviders.some((r) => (typeof r == \"string\" ? r : r.name) === \"webgpu\") && (t.enableMemPattern = false);\n    }, Ee = (t, e, r, o) => {\n      let n = F(e, o), s = F(r, o);\n      I()._OrtAddSessionConfigEntry(t, n, s) !== 0 && S(`Can't set a session config entry: ${e} - ${r}.`);\n    }, te = (t, e, r, o) => {\n      let n = F(e, o), s = F(r, o);\n      t.push([n, s]);\n    }, dn = async (t, e, r) => {\n      let o = e.executionProviders;\n      for (let n of o) {\n        let s = typeof n == \"string\" ? n : n.name, a = [];\n        switch (s) {\n          case \"webnn\":\n            if (s = \"WEBNN\", Ee(t, \"session.disable_quant_qdq\", \"1\", r), Ee(t, \"session.disable_qdq_constant_folding\", \"1\", r), typeof n != \"string\") {\n              let c = n?.deviceType;\n              c && Ee(t, \"deviceType\", c, r);\n            }\n            break;\n          case \"webgpu\":\n            {\n              s = \"WebGPU\";\n              let p;\n              if (typeof n != \"string\") {\n                let l = n;\n                if (l.device) if (typeof GPUDevice < \"u\" && l.device instanceof GPUDevice) p = l.device;\n                else throw new Error(\"Invalid GPU device set in WebGPU EP options.\");\n                let { enableGraphCapture: h } = e;\n                if (typeof h == \"boolean\" && h && te(a, \"enableGraphCapture\", \"1\", r), typeof l.preferredLayout == \"string\" && te(a, \"preferredLayout\", l.preferredLayout, r), l.forceCpuNodeNames) {\n                  let b = Array.isArray(l.forceCpuNodeNames) ? l.forceCpuNodeNames : [l.forceCpuNodeNames];\n                  te(a, \"forceCpuNodeNames\", b.join(`\n`), r);\n                }\n                l.validationMode && te(a, \"validationMode\", l.validationMode, r);\n                for (let b of [\"storageBufferCacheMode\", \"uniformBufferCacheMode\", \"queryResolveBufferCacheMode\", \"defaultBufferCacheMode\"]) {\n                  let E = l[b];\n                  if (E) {\n                    if (E !== \"disabled\" && E !== \"lazyRelease\" && E !== \"simple\" && E !== \"bucket\") throw new Error(`${b} must be one of 'disabled', 'lazyRelease', 'simple' or 'bucket': ${E}`);\n                    te(a, b, E, r);\n                  }\n                }\n              }\n              let c = I().webgpuRegisterDevice(p);\n              if (c) {\n                let [l, h, b] = c;\n                te(a, \"deviceId\", l.toString(), r), te(a, \"webgpuInstance\", h.toString(), r), te(a, \"webgpuDevice\", b.toString(), r);\n              }\n            }\n            break;\n          case \"wasm\":\n          case \"cpu\":\n            continue;\n          default:\n            throw new Error(`not supported execution provider: ${s}`);\n        }\n        let i = F(s, r), u = a.length, f = 0, d = 0;\n        if (u > 0) {\n          f = I()._malloc(u * I().PTR_SIZE), r.push(f), d = I()._malloc(u * I().PTR_SIZE), r.push(d);\n          for (let p = 0; p < u; p++) I().setValue(f + p * I().PTR_SIZE, a[p][0], \"*\"), I().setValue(d + p * I().PTR_SIZE, a[p][1], \"*\");\n        }\n        await I()._OrtAppendExecutionProvider(t, i, f, d, u) !== 0 && S(`Can't append execution provider: ${s}.`);\n      }\n    }, yr = async (t) => {\n      let e = I(), r = 0, o = [], n = t || {};\n      cn(n);\n      try {\n        let s = un(n.graphOptimizationLevel ?? \"all\"), a = fn(n.executionMode ?? \"sequential\"), i = typeof n.logId == \"string\" ? F(n.logId, o) : 0, u = n.logSeverityLevel ?? 2;\n        if (!Number.isInteger(u) || u < 0 || u > 4) throw new Error(`log severity level is not valid: ${u}`);\n        let f = n.logVerbosityLevel ?? 0;\n        if (!Number.isInteger(f) || f < 0 || f > 4) throw new Error(`log verbosity level is not valid: ${f}`);\n        let d = typeof n.optimizedModelFilePath == \"string\" ? F(n.optimizedModelFilePath, o) : 0;\n        if (r = e._OrtCreateSessionOptions(s, !!n.enableCpuMemArena, !!n.enableMemPattern, a, !!n.enableProfiling, 0, i, u, f, d), r === 0 && S(\"Can't create session options.\"), n.executionProviders && await dn(r, n, o), n.enableGraphCapture !== void 0) {\n          if (typeof n.enableGraphCapture != \"boolean\") throw new Error(`enableGraphCapture must be a boolean value: ${n.enableGraphCapture}`);\n          Ee(r, \"enableGraphCapture\", n.enableGraphCapture.toString(), o);\n        }\n        if (n.freeDimensionOverrides) for (let [p, c] of Object.entries(n.freeDimensionOverrides)) {\n          if (typeof p != \"string\") throw new Error(`free dimension override name must be a string: ${p}`);\n          if (typeof c != \"number\" || !Number.isInteger(c) || c < 0) throw new Error(`free dimension override value must be a non-negative integer: ${c}`);\n          let l = F(p, o);\n          e._OrtAddFreeDimensionOverride(r, l, c) !== 0 && S(`Can't set a free dimension override: ${p} - ${c}.`);\n        }\n        return n.extra !== void 0 && Te(n.extra, \"\", /* @__PURE__ */ new WeakSet(), (p, c) => {\n          Ee(r, p, c, o);\n        }), [r, o];\n      } catch (s) {\n        throw r !== 0 && e._OrtReleaseSessionOptions(r) !== 0 && S(\"Can't release session options.\"), o.forEach((a) => e._free(a)), s;\n      }\n    };\n  });\n  var re;\n  var ze;\n  var le;\n  var fe;\n  var Se;\n  var Ve;\n  var je;\n  var yt;\n  var ce = T(() => {\n    \"use strict\";\n    re = (t) => {\n      switch (t) {\n        case \"int8\":\n          return 3;\n        case \"uint8\":\n          return 2;\n        case \"bool\":\n          return 9;\n        case \"int16\":\n          return 5;\n        case \"uint16\":\n          return 4;\n        case \"int32\":\n          return 6;\n        case \"uint32\":\n          return 12;\n        case \"float16\":\n          return 10;\n        case \"float32\":\n          return 1;\n        case \"float64\":\n          return 11;\n        case \"string\":\n          return 8;\n        case \"int64\":\n          return 7;\n        case \"uint64\":\n          return 13;\n        case \"int4\":\n          return 22;\n        case \"uint4\":\n          return 21;\n        default:\n          throw new Error(`unsupported data type: ${t}`);\n      }\n    }, ze = (t) => {\n      switch (t) {\n        case 3:\n          return \"int8\";\n        case 2:\n          return \"uint8\";\n        case 9:\n          return \"bool\";\n        case 5:\n          return \"int16\";\n        case 4:\n          return \"uint16\";\n        case 6:\n          return \"int32\";\n        case 12:\n          return \"uint32\";\n        case 10:\n          return \"float16\";\n        case 1:\n          return \"float32\";\n        case 11:\n          return \"float64\";\n        case 8:\n          return \"string\";\n        case 7:\n          return \"int64\";\n        case 13:\n          return \"uint64\";\n        case 22:\n          return \"int4\";\n        case 21:\n          return \"uint4\";\n        default:\n          throw new Error(`unsupported data type: ${t}`);\n      }\n    }, le = (t, e) => {\n      let r = [-1, 4, 1, 1, 2, 2, 4, 8, -1, 1, 2, 8, 4, 8, -1, -1, -1, -1, -1, -1, -1, 0.5, 0.5][t], o = typeof e == \"number\" ? e : e.reduce((n, s) => n * s, 1);\n      return r > 0 ? Math.ceil(o * r) : void 0;\n    }, fe = (t) => {\n      switch (t) {\n        case \"float16\":\n          return typeof Float16Array < \"u\" ? Float16Array : Uint16Array;\n        case \"float32\":\n          return Float32Array;\n        case \"uint8\":\n          return Uint8Array;\n        case \"int8\":\n          return Int8Array;\n        case \"uint16\":\n          return Uint16Array;\n        case \"int16\":\n          return Int16Array;\n        case \"int32\":\n          return Int32Array;\n        case \"bool\":\n          return Uint8Array;\n        case \"float64\":\n          return Float64Array;\n        case \"uint32\":\n          return Uint32Array;\n        case \"int64\":\n          return BigInt64Array;\n        case \"uint64\":\n          return BigUint64Array;\n        default:\n          throw new Error(`unsupported type: ${t}`);\n      }\n    }, Se = (t) => {\n      switch (t) {\n        case \"verbose\":\n          return 0;\n        case \"info\":\n          return 1;\n        case \"warning\":\n          return 2;\n        case \"error\":\n          return 3;\n        case \"fatal\":\n          return 4;\n        default:\n          throw new Error(`unsupported logging level: ${t}`);\n      }\n    }, Ve = (t) => t === \"float32\" || t === \"float16\" || t === \"int32\" || t === \"int64\" || t === \"uint32\" || t === \"uint8\" || t === \"bool\" || t === \"uint4\" || t === \"int4\", je = (t) => t === \"float32\" || t === \"float16\" || t === \"int32\" || t === \"int64\" || t === \"uint32\" || t === \"uint64\" || t === \"int8\" || t === \"uint8\" || t === \"bool\" || t === \"uint4\" || t === \"int4\", yt = (t) => {\n      switch (t) {\n        case \"none\":\n          return 0;\n        case \"cpu\":\n          return 1;\n        case \"cpu-pinned\":\n          return 2;\n        case \"texture\":\n          return 3;\n        case \"gpu-buffer\":\n          return 4;\n        case \"ml-tensor\":\n          return 5;\n        default:\n          throw new Error(`unsupported data location: ${t}`);\n      }\n    };\n  });\n  var Ie;\n  var bt = T(() => {\n    \"use strict\";\n    Oe();\n    Ie = async (t) => {\n      if (typeof t == \"string\") if (false) try {\n        let { readFile: e } = ot(\"node:fs/promises\");\n        return new Uint8Array(await e(t));\n      } catch (e) {\n        if (e.code === \"ERR_FS_FILE_TOO_LARGE\") {\n          let { createReadStream: r } = ot(\"node:fs\"), o = r(t), n = [];\n          for await (let s of o) n.push(s);\n          return new Uint8Array(Buffer.concat(n));\n        }\n        throw e;\n      }\n      else {\n        let e = await fetch(t);\n        if (!e.ok) throw new Error(`failed to load external data file: ${t}`);\n        let r = e.headers.get(\"Content-Length\"), o = r ? parseInt(r, 10) : 0;\n        if (o < 1073741824) return new Uint8Array(await e.arrayBuffer());\n        {\n          if (!e.body) throw new Error(`failed to load external data file: ${t}, no response body.`);\n          let n = e.body.getReader(), s;\n          try {\n            s = new ArrayBuffer(o);\n          } catch (i) {\n            if (i instanceof RangeError) {\n              let u = Math.ceil(o / 65536);\n              s = new WebAssembly.Memory({ initial: u, maximum: u }).buffer;\n            } else throw i;\n          }\n          let a = 0;\n          for (; ; ) {\n            let { done: i, value: u } = await n.read();\n            if (i) break;\n            let f = u.byteLength;\n            new Uint8Array(s, a, f).set(u), a += f;\n          }\n          return new Uint8Array(s, 0, o);\n        }\n      }\n      else return t instanceof Blob ? new Uint8Array(await t.arrayBuffer()) : t instanceof Uint8Array ? t : new Uint8Array(t);\n    };\n  });\n  var wr;\n  var gr = T(() => {\n    \"use strict\";\n    ce();\n    wr = (t, e) => new (fe(e))(t);\n  });\n  var pn;\n  var ln;\n  var Tr;\n  var Er;\n  var Sr;\n  var mn;\n  var N;\n  var wt = T(() => {\n    \"use strict\";\n    ce();\n    pn = [\"V\", \"I\", \"W\", \"E\", \"F\"], ln = (t, e) => {\n      console.log(`[${pn[t]},${(/* @__PURE__ */ new Date()).toISOString()}]${e}`);\n    }, Sr = (t, e) => {\n      Tr = t, Er = e;\n    }, mn = (t, e) => {\n      let r = Se(t), o = Se(Tr);\n      r >= o && ln(r, typeof e == \"function\" ? e() : e);\n    }, N = (...t) => {\n      Er && mn(...t);\n    };\n  });\n  var Lr;\n  var hn;\n  var Ar;\n  var yn;\n  var Ir;\n  var bn;\n  var vr;\n  var He;\n  var Je;\n  var gt;\n  var Br;\n  var Mr = T(() => {\n    \"use strict\";\n    ce();\n    wt();\n    Lr = /* @__PURE__ */ new Map([[\"float32\", 32], [\"float16\", 16], [\"int32\", 32], [\"uint32\", 32], [\"int64\", 64], [\"uint64\", 64], [\"int8\", 8], [\"uint8\", 8], [\"int4\", 4], [\"uint4\", 4]]), hn = (t, e) => {\n      if (e === \"int32\") return t;\n      let r = Lr.get(e);\n      if (!r) throw new Error(`WebNN backend does not support data type: ${e}`);\n      let o = r / 8;\n      if (t.byteLength % o !== 0) throw new Error(`Invalid Uint8Array length - must be a multiple of ${o}.`);\n      let n = t.byteLength / o, s = new (fe(e))(t.buffer, t.byteOffset, n);\n      switch (e) {\n        case \"int64\":\n        case \"uint64\": {\n          let a = new Int32Array(n);\n          for (let i = 0; i < n; i++) {\n            let u = s[i];\n            if (u > 2147483647n || u < -2147483648n) throw new Error(\"Can not convert int64 data to int32 - value out of range.\");\n            a[i] = Number(u);\n          }\n          return new Uint8Array(a.buffer);\n        }\n        case \"int8\":\n        case \"uint8\":\n        case \"uint32\": {\n          if (e === \"uint32\" && s.some((i) => i > 2147483647)) throw new Error(\"Can not convert uint32 data to int32 - value out of range.\");\n          let a = Int32Array.from(s, Number);\n          return new Uint8Array(a.buffer);\n        }\n        default:\n          throw new Error(`Unsupported data conversion from ${e} to 'int32'`);\n      }\n    }, Ar = (t, e) => {\n      if (e === \"int32\") return t;\n      if (t.byteLength % 4 !== 0) throw new Error(\"Invalid Uint8Array length - must be a multiple of 4 (int32).\");\n      let r = t.byteLength / 4, o = new Int32Array(t.buffer, t.byteOffset, r);\n      switch (e) {\n        case \"int64\": {\n          let n = BigInt64Array.from(o, BigInt);\n          return new Uint8Array(n.buffer);\n        }\n        case \"uint64\": {\n          if (o.some((s) => s < 0)) throw new Error(\"Can not convert int32 data to uin64 - negative value found.\");\n          let n = BigUint64Array.from(o, BigInt);\n          return new Uint8Array(n.buffer);\n        }\n        case \"int8\": {\n          if (o.some((s) => s < -128 || s > 127)) throw new Error(\"Can not convert int32 data to int8 - value out of range.\");\n          let n = Int8Array.from(o, Number);\n          return new Uint8Array(n.buffer);\n        }\n        case \"uint8\": {\n          if (o.some((n) => n < 0 || n > 255)) throw new Error(\"Can not convert int32 data to uint8 - value out of range.\");\n          return Uint8Array.from(o, Number);\n        }\n        case \"uint32\": {\n          if (o.some((s) => s < 0)) throw new Error(\"Can not convert int32 data to uint32 - negative value found.\");\n          let n = Uint32Array.from(o, Number);\n          return new Uint8Array(n.buffer);\n        }\n        default:\n          throw new Error(`Unsupported data conversion from 'int32' to ${e}`);\n      }\n    }, yn = 1, Ir = () => yn++, bn = /* @__PURE__ */ new Map([[\"int8\", \"int32\"], [\"uint8\", \"int32\"], [\"uint32\", \"int32\"], [\"int64\", \"int32\"]]), vr = (t, e) => {\n      let r = Lr.get(t);\n      if (!r) throw new Error(`WebNN backend does not support data type: ${t}`);\n      return e.length > 0 ? Math.ceil(e.reduce((o, n) => o * n) * r / 8) : 0;\n    }, He = class {\n      constructor(e) {\n        this.isDataConverted = false;\n        let { sessionId: r, context: o, tensor: n, dataType: s, shape: a, fallbackDataType: i } = e;\n        this.sessionId = r, this.mlContext = o, this.mlTensor = n, this.dataType = s, this.tensorShape = a, this.fallbackDataType = i;\n      }\n      get tensor() {\n        return this.mlTensor;\n      }\n      get type() {\n        return this.dataType;\n      }\n      get fallbackType() {\n        return this.fallbackDataType;\n      }\n      get shape() {\n        return this.tensorShape;\n      }\n      get byteLength() {\n        return vr(this.dataType, this.tensorShape);\n      }\n      destroy() {\n        N(\"verbose\", () => \"[WebNN] TensorWrapper.destroy\"), this.mlTensor.destroy();\n      }\n      write(e) {\n        this.mlContext.writeTensor(this.mlTensor, e);\n      }\n      async read(e) {\n        if (this.fallbackDataType) {\n          let r = await this.mlContext.readTensor(this.mlTensor), o = Ar(new Uint8Array(r), this.dataType);\n          if (e) {\n            (e instanceof ArrayBuffer ? new Uint8Array(e) : new Uint8Array(e.buffer, e.byteOffset, e.byteLength)).set(o);\n            return;\n          } else return new Uint8Array(o).buffer;\n        } else return e ? this.mlContext.readTensor(this.mlTensor, e) : this.mlContext.readTensor(this.mlTensor);\n      }\n      canReuseTensor(e, r, o) {\n        return this.mlContext === e && this.dataType === r && this.tensorShape.length === o.length && this.tensorShape.every((n, s) => n === o[s]);\n      }\n      setIsDataConverted(e) {\n        this.isDataConverted = e;\n      }\n    }, Je = class {\n      constructor(e, r) {\n        this.tensorManager = e;\n        this.wrapper = r;\n      }\n      get tensorWrapper() {\n        return this.wrapper;\n      }\n      releaseTensor() {\n        this.tensorWrapper && (this.tensorManager.releaseTensor(this.tensorWrapper), this.wrapper = void 0);\n      }\n      async ensureTensor(e, r, o, n) {\n        let s = this.tensorManager.getMLContext(e), a = this.tensorManager.getMLOpSupportLimits(e), i;\n        if (!a?.input.dataTypes.includes(r)) {\n          if (i = bn.get(r), !i || !a?.input.dataTypes.includes(i)) throw new Error(`WebNN backend does not support data type: ${r}`);\n          N(\"verbose\", () => `[WebNN] TensorIdTracker.ensureTensor: fallback dataType from ${r} to ${i}`);\n        }\n        if (this.wrapper) {\n          if (this.wrapper.canReuseTensor(s, r, o)) return this.wrapper.tensor;\n          if (n) {\n            if (this.wrapper.byteLength !== vr(r, o)) throw new Error(\"Unable to copy data to tensor with different size.\");\n            this.activeUpload = new Uint8Array(await this.wrapper.read());\n          }\n          this.tensorManager.releaseTensor(this.wrapper);\n        }\n        let u = typeof MLTensorUsage > \"u\" ? void 0 : MLTensorUsage.READ | MLTensorUsage.WRITE;\n        return this.wrapper = await this.tensorManager.getCachedTensor(e, r, o, u, true, true, i), n && this.activeUpload && (this.wrapper.write(this.activeUpload), this.activeUpload = void 0), this.wrapper.tensor;\n      }\n      upload(e) {\n        let r = e;\n        if (this.wrapper) {\n          if (this.wrapper.fallbackType) if (this.wrapper.fallbackType === \"int32\") r = hn(e, this.wrapper.type), this.wrapper.setIsDataConverted(true);\n          else throw new Error(`Unsupported fallback data type: ${this.wrapper.fallbackType}`);\n          if (e.byteLength === this.wrapper.byteLength) {\n            this.wrapper.write(r);\n            return;\n          } else N(\"verbose\", () => \"Data size does not match tensor size. Releasing tensor.\"), this.releaseTensor();\n        }\n        this.activeUpload ? this.activeUpload.set(r) : this.activeUpload = new Uint8Array(r);\n      }\n      async download(e) {\n        if (this.activeUpload) {\n          let r = this.wrapper?.isDataConverted ? Ar(this.activeUpload, this.wrapper?.type) : this.activeUpload;\n          if (e) {\n            e instanceof ArrayBuffer ? new Uint8Array(e).set(r) : new Uint8Array(e.buffer, e.byteOffset, e.byteLength).set(r);\n            return;\n          } else return r.buffer;\n        }\n        if (!this.wrapper) throw new Error(\"Tensor has not been created.\");\n        return e ? this.wrapper.read(e) : this.wrapper.read();\n      }\n    }, gt = class {\n      constructor(e) {\n        this.backend = e;\n        this.tensorTrackersById = /* @__PURE__ */ new Map();\n        this.freeTensors = [];\n        this.externalTensors = /* @__PURE__ */ new Set();\n      }\n      getMLContext(e) {\n        let r = this.backend.getMLContext(e);\n        if (!r) throw new Error(\"MLContext not found for session.\");\n        return r;\n      }\n      getMLOpSupportLimits(e) {\n        return this.backend.getMLOpSupportLimits(e);\n      }\n      reserveTensorId() {\n        let e = Ir();\n        return this.tensorTrackersById.set(e, new Je(this)), e;\n      }\n      releaseTensorId(e) {\n        let r = this.tensorTrackersById.get(e);\n        r && (this.tensorTrackersById.delete(e), r.tensorWrapper && this.releaseTensor(r.tensorWrapper));\n      }\n      async ensureTensor(e, r, o, n, s) {\n        N(\"verbose\", () => `[WebNN] TensorManager.ensureTensor {tensorId: ${r}, dataType: ${o}, shape: ${n}, copyOld: ${s}}`);\n        let a = this.tensorTrackersById.get(r);\n        if (!a) throw new Error(\"Tensor not found.\");\n        return a.ensureTensor(e, o, n, s);\n      }\n      upload(e, r) {\n        let o = this.tensorTrackersById.get(e);\n        if (!o) throw new Error(\"Tensor not found.\");\n        o.upload(r);\n      }\n      async download(e, r) {\n        N(\"verbose\", () => `[WebNN] TensorManager.download {tensorId: ${e}, dstBuffer: ${r?.byteLength}}`);\n        let o = this.tensorTrackersById.get(e);\n        if (!o) throw new Error(\"Tensor not found.\");\n        return o.download(r);\n      }\n      releaseTensorsForSession(e) {\n        for (let r of this.freeTensors) r.sessionId === e && r.destroy();\n        this.freeTensors = this.freeTensors.filter((r) => r.sessionId !== e);\n      }\n      registerTensor(e, r, o, n) {\n        let s = this.getMLContext(e), a = Ir(), i = new He({ sessionId: e, context: s, tensor: r, dataType: o, shape: n });\n        return this.tensorTrackersById.set(a, new Je(this, i)), this.externalTensors.add(i), a;\n      }\n      async getCachedTensor(e, r, o, n, s, a, i) {\n        let u = this.getMLContext(e);\n        for (let [d, p] of this.freeTensors.entries()) if (p.canReuseTensor(u, r, o)) {\n          N(\"verbose\", () => `[WebNN] Reusing tensor {dataType: ${r}, ${i ? `fallbackDataType: ${i},` : \"\"} shape: ${o}`);\n          let c = this.freeTensors.splice(d, 1)[0];\n          return c.sessionId = e, c;\n        }\n        N(\"verbose\", () => `[WebNN] MLContext.createTensor {dataType: ${r}, ${i ? `fallbackDataType: ${i},` : \"\"} shape: ${o}}`);\n        let f = await u.createTensor({ dataType: i ?? r, shape: o, dimensions: o, usage: n, writable: s, readable: a });\n        return new He({ sessionId: e, context: u, tensor: f, dataType: r, shape: o, fallbackDataType: i });\n      }\n      releaseTensor(e) {\n        this.externalTensors.has(e) && this.externalTensors.delete(e), this.freeTensors.push(e);\n      }\n    }, Br = (...t) => new gt(...t);\n  });\n  var xr = {};\n  ve(xr, { WebNNBackend: () => Tt });\n  var qe;\n  var wn;\n  var Tt;\n  var Or = T(() => {\n    \"use strict\";\n    ce();\n    ee();\n    gr();\n    Mr();\n    wt();\n    qe = /* @__PURE__ */ new Map([[1, \"float32\"], [10, \"float16\"], [6, \"int32\"], [12, \"uint32\"], [7, \"int64\"], [13, \"uint64\"], [22, \"int4\"], [21, \"uint4\"], [3, \"int8\"], [2, \"uint8\"], [9, \"uint8\"]]), wn = (t, e) => {\n      if (t === e) return true;\n      if (t === void 0 || e === void 0) return false;\n      let r = Object.keys(t).sort(), o = Object.keys(e).sort();\n      return r.length === o.length && r.every((n, s) => n === o[s] && t[n] === e[n]);\n    }, Tt = class {\n      constructor(e) {\n        this.tensorManager = Br(this);\n        this.mlContextBySessionId = /* @__PURE__ */ new Map();\n        this.sessionIdsByMLContext = /* @__PURE__ */ new Map();\n        this.mlContextCache = [];\n        this.sessionGraphInputs = /* @__PURE__ */ new Map();\n        this.sessionGraphOutputs = /* @__PURE__ */ new Map();\n        this.temporaryGraphInputs = [];\n        this.temporaryGraphOutputs = [];\n        this.temporarySessionTensorIds = /* @__PURE__ */ new Map();\n        this.mlOpSupportLimitsBySessionId = /* @__PURE__ */ new Map();\n        Sr(e.logLevel, !!e.debug);\n      }\n      get currentSessionId() {\n        if (this.activeSessionId === void 0) throw new Error(\"No active session\");\n        return this.activeSessionId;\n      }\n      onRunStart(e) {\n        N(\"verbose\", () => `[WebNN] onRunStart {sessionId: ${e}}`), this.activeSessionId = e;\n      }\n      onRunEnd(e) {\n        N(\"verbose\", () => `[WebNN] onRunEnd {sessionId: ${e}}`);\n        let r = this.temporarySessionTensorIds.get(e);\n        if (r) {\n          for (let o of r) N(\"verbose\", () => `[WebNN] releasing temporary tensor {tensorId: ${o}}`), this.tensorManager.releaseTensorId(o);\n          this.temporarySessionTensorIds.delete(e), this.activeSessionId = void 0;\n        }\n      }\n      async createMLContext(e) {\n        if (e instanceof GPUDevice) {\n          let o = this.mlContextCache.findIndex((n) => n.gpuDevice === e);\n          if (o !== -1) return this.mlContextCache[o].mlContext;\n          {\n            let n = await navigator.ml.createContext(e);\n            return this.mlContextCache.push({ gpuDevice: e, mlContext: n }), n;\n          }\n        } else if (e === void 0) {\n          let o = this.mlContextCache.findIndex((n) => n.options === void 0 && n.gpuDevice === void 0);\n          if (o !== -1) return this.mlContextCache[o].mlContext;\n          {\n            let n = await navigator.ml.createContext();\n            return this.mlContextCache.push({ mlContext: n }), n;\n          }\n        }\n        let r = this.mlContextCache.findIndex((o) => wn(o.options, e));\n        if (r !== -1) return this.mlContextCache[r].mlContext;\n        {\n          let o = await navigator.ml.createContext(e);\n          return this.mlContextCache.push({ options: e, mlContext: o }), o;\n        }\n      }\n      registerMLContext(e, r) {\n        this.mlContextBySessionId.set(e, r);\n        let o = this.sessionIdsByMLContext.get(r);\n        o || (o = /* @__PURE__ */ new Set(), this.sessionIdsByMLContext.set(r, o)), o.add(e), this.mlOpSupportLimitsBySessionId.has(e) || this.mlOpSupportLimitsBySessionId.set(e, r.opSupportLimits()), this.temporaryGraphInputs.length > 0 && (this.sessionGraphInputs.set(e, this.temporaryGraphInputs), this.temporaryGraphInputs = []), this.temporaryGraphOutputs.length > 0 && (this.sessionGraphOutputs.set(e, this.temporaryGraphOutputs), this.temporaryGraphOutputs = []);\n      }\n      onReleaseSession(e) {\n        this.sessionGraphInputs.delete(e), this.sessionGraphOutputs.delete(e);\n        let r = this.mlContextBySessionId.get(e);\n        if (!r) return;\n        this.tensorManager.releaseTensorsForSession(e), this.mlContextBySessionId.delete(e), this.mlOpSupportLimitsBySessionId.delete(e);\n        let o = this.sessionIdsByMLContext.get(r);\n        if (o.delete(e), o.size === 0) {\n          this.sessionIdsByMLContext.delete(r);\n          let n = this.mlContextCache.findIndex((s) => s.mlContext === r);\n          n !== -1 && this.mlContextCache.splice(n, 1);\n        }\n      }\n      getMLContext(e) {\n        return this.mlContextBySessionId.get(e);\n      }\n      getMLOpSupportLimits(e) {\n        return this.mlOpSupportLimitsBySessionId.get(e);\n      }\n      reserveTensorId() {\n        return this.tensorManager.reserveTensorId();\n      }\n      releaseTensorId(e) {\n        N(\"verbose\", () => `[WebNN] releaseTensorId {tensorId: ${e}}`), this.tensorManager.releaseTensorId(e);\n      }\n      async ensureTensor(e, r, o, n, s) {\n        let a = qe.get(o);\n        if (!a) throw new Error(`Unsupported ONNX data type: ${o}`);\n        return this.tensorManager.ensureTensor(e ?? this.currentSessionId, r, a, n, s);\n      }\n      async createTemporaryTensor(e, r, o) {\n        N(\"verbose\", () => `[WebNN] createTemporaryTensor {onnxDataType: ${r}, shape: ${o}}`);\n        let n = qe.get(r);\n        if (!n) throw new Error(`Unsupported ONNX data type: ${r}`);\n        let s = this.tensorManager.reserveTensorId();\n        await this.tensorManager.ensureTensor(e, s, n, o, false);\n        let a = this.temporarySessionTensorIds.get(e);\n        return a ? a.push(s) : this.temporarySessionTensorIds.set(e, [s]), s;\n      }\n      uploadTensor(e, r) {\n        if (!I().shouldTransferToMLTensor) throw new Error(\"Trying to upload to a MLTensor while shouldTransferToMLTensor is false\");\n        N(\"verbose\", () => `[WebNN] uploadTensor {tensorId: ${e}, data: ${r.byteLength}}`), this.tensorManager.upload(e, r);\n      }\n      async downloadTensor(e, r) {\n        return this.tensorManager.download(e, r);\n      }\n      createMLTensorDownloader(e, r) {\n        return async () => {\n          let o = await this.tensorManager.download(e);\n          return wr(o, r);\n        };\n      }\n      registerMLTensor(e, r, o, n) {\n        let s = qe.get(o);\n        if (!s) throw new Error(`Unsupported ONNX data type: ${o}`);\n        let a = this.tensorManager.registerTensor(e, r, s, n);\n        return N(\"verbose\", () => `[WebNN] registerMLTensor {tensor: ${r}, dataType: ${s}, dimensions: ${n}} -> {tensorId: ${a}}`), a;\n      }\n      registerGraphInput(e) {\n        this.temporaryGraphInputs.push(e);\n      }\n      registerGraphOutput(e) {\n        this.temporaryGraphOutputs.push(e);\n      }\n      isGraphInput(e, r) {\n        let o = this.sessionGraphInputs.get(e);\n        return o ? o.includes(r) : false;\n      }\n      isGraphOutput(e, r) {\n        let o = this.sessionGraphOutputs.get(e);\n        return o ? o.includes(r) : false;\n      }\n      isGraphInputOutputTypeSupported(e, r, o = true) {\n        let n = qe.get(re(r)), s = this.mlOpSupportLimitsBySessionId.get(e);\n        return typeof n > \"u\" ? false : o ? !!s?.input.dataTypes.includes(n) : !!s?.output.dataTypes.includes(n);\n      }\n      flush() {\n      }\n    };\n  });\n  var gn;\n  var Ce;\n  var Pe;\n  var de;\n  var Tn;\n  var Dr;\n  var ge;\n  var _e;\n  var Re;\n  var Ur;\n  var Ne;\n  var Fe;\n  var We;\n  var pt = T(() => {\n    \"use strict\";\n    Q();\n    hr();\n    br();\n    ce();\n    ee();\n    $e();\n    bt();\n    gn = (t, e) => {\n      I()._OrtInit(t, e) !== 0 && S(\"Can't initialize onnxruntime.\");\n    }, Ce = async (t) => {\n      gn(t.wasm.numThreads, Se(t.logLevel));\n    }, Pe = async (t, e) => {\n      I().asyncInit?.();\n      let r = t.webgpu.adapter;\n      if (e === \"webgpu\") {\n        if (typeof navigator > \"u\" || !navigator.gpu) throw new Error(\"WebGPU is not supported in current environment\");\n        if (r) {\n          if (typeof r.limits != \"object\" || typeof r.features != \"object\" || typeof r.requestDevice != \"function\") throw new Error(\"Invalid GPU adapter set in `env.webgpu.adapter`. It must be a GPUAdapter object.\");\n        } else {\n          let o = t.webgpu.powerPreference;\n          if (o !== void 0 && o !== \"low-power\" && o !== \"high-performance\") throw new Error(`Invalid powerPreference setting: \"${o}\"`);\n          let n = t.webgpu.forceFallbackAdapter;\n          if (n !== void 0 && typeof n != \"boolean\") throw new Error(`Invalid forceFallbackAdapter setting: \"${n}\"`);\n          if (r = await navigator.gpu.requestAdapter({ powerPreference: o, forceFallbackAdapter: n }), !r) throw new Error('Failed to get GPU adapter. You may need to enable flag \"--enable-unsafe-webgpu\" if you are using Chrome.');\n        }\n      }\n      if (e === \"webnn\" && (typeof navigator > \"u\" || !navigator.ml)) throw new Error(\"WebNN is not supported in current environment\");\n      if (e === \"webgpu\" && I().webgpuInit((o) => {\n        t.webgpu.device = o;\n      }), e === \"webnn\") {\n        let o = new (Or(), st(xr)).WebNNBackend(t);\n        I().webnnInit([o, () => o.reserveTensorId(), (n) => o.releaseTensorId(n), async (n, s, a, i, u) => o.ensureTensor(n, s, a, i, u), (n, s) => {\n          o.uploadTensor(n, s);\n        }, async (n, s) => o.downloadTensor(n, s), (n, s) => o.registerMLContext(n, s), !!t.trace]);\n      }\n    }, de = /* @__PURE__ */ new Map(), Tn = (t) => {\n      let e = I(), r = e.stackSave();\n      try {\n        let o = e.PTR_SIZE, n = e.stackAlloc(2 * o);\n        e._OrtGetInputOutputCount(t, n, n + o) !== 0 && S(\"Can't get session input/output count.\");\n        let a = o === 4 ? \"i32\" : \"i64\";\n        return [Number(e.getValue(n, a)), Number(e.getValue(n + o, a))];\n      } finally {\n        e.stackRestore(r);\n      }\n    }, Dr = (t, e) => {\n      let r = I(), o = r.stackSave(), n = 0;\n      try {\n        let s = r.PTR_SIZE, a = r.stackAlloc(2 * s);\n        r._OrtGetInputOutputMetadata(t, e, a, a + s) !== 0 && S(\"Can't get session input/output metadata.\");\n        let u = Number(r.getValue(a, \"*\"));\n        n = Number(r.getValue(a + s, \"*\"));\n        let f = r.HEAP32[n / 4];\n        if (f === 0) return [u, 0];\n        let d = r.HEAPU32[n / 4 + 1], p = [];\n        for (let c = 0; c < d; c++) {\n          let l = Number(r.getValue(n + 8 + c * s, \"*\"));\n          p.push(l !== 0 ? r.UTF8ToString(l) : Number(r.getValue(n + 8 + (c + d) * s, \"*\")));\n        }\n        return [u, f, p];\n      } finally {\n        r.stackRestore(o), n !== 0 && r._OrtFree(n);\n      }\n    }, ge = (t) => {\n      let e = I(), r = e._malloc(t.byteLength);\n      if (r === 0) throw new Error(`Can't create a session. failed to allocate a buffer of size ${t.byteLength}.`);\n      return e.HEAPU8.set(t, r), [r, t.byteLength];\n    }, _e = async (t, e) => {\n      let r, o, n = I();\n      Array.isArray(t) ? [r, o] = t : t.buffer === n.HEAPU8.buffer ? [r, o] = [t.byteOffset, t.byteLength] : [r, o] = ge(t);\n      let s = 0, a = 0, i = 0, u = [], f = [], d = [];\n      try {\n        if ([a, u] = await yr(e), e?.externalData && n.mountExternalData) {\n          let w = [];\n          for (let L of e.externalData) {\n            let C = typeof L == \"string\" ? L : L.path, k = typeof L == \"string\" ? L : L.data;\n            w.push(Ie(k).then((x) => {\n              n.mountExternalData(C, x);\n            }));\n          }\n          await Promise.all(w);\n        }\n        for (let w of e?.executionProviders ?? []) if ((typeof w == \"string\" ? w : w.name) === \"webnn\") {\n          if (n.shouldTransferToMLTensor = false, typeof w != \"string\") {\n            let C = w, k = C?.context, x = C?.gpuDevice, W = C?.deviceType, H = C?.powerPreference;\n            k ? n.currentContext = k : x ? n.currentContext = await n.webnnCreateMLContext(x) : n.currentContext = await n.webnnCreateMLContext({ deviceType: W, powerPreference: H });\n          } else n.currentContext = await n.webnnCreateMLContext();\n          break;\n        }\n        s = await n._OrtCreateSession(r, o, a), n.webgpuOnCreateSession?.(s), s === 0 && S(\"Can't create a session.\"), n.jsepOnCreateSession?.(), n.currentContext && (n.webnnRegisterMLContext(s, n.currentContext), n.currentContext = void 0, n.shouldTransferToMLTensor = true);\n        let [p, c] = Tn(s), l = !!e?.enableGraphCapture, h = [], b = [], E = [], y = [], m = [];\n        for (let w = 0; w < p; w++) {\n          let [L, C, k] = Dr(s, w);\n          L === 0 && S(\"Can't get an input name.\"), f.push(L);\n          let x = n.UTF8ToString(L);\n          h.push(x), E.push(C === 0 ? { name: x, isTensor: false } : { name: x, isTensor: true, type: ze(C), shape: k });\n        }\n        for (let w = 0; w < c; w++) {\n          let [L, C, k] = Dr(s, w + p);\n          L === 0 && S(\"Can't get an output name.\"), d.push(L);\n          let x = n.UTF8ToString(L);\n          b.push(x), y.push(C === 0 ? { name: x, isTensor: false } : { name: x, isTensor: true, type: ze(C), shape: k });\n          {\n            if (l && e?.preferredOutputLocation === void 0) {\n              m.push(\"gpu-buffer\");\n              continue;\n            }\n            let W = typeof e?.preferredOutputLocation == \"string\" ? e.preferredOutputLocation : e?.preferredOutputLocation?.[x] ?? \"cpu\", H = n.webnnIsGraphOutput;\n            if (W === \"cpu\" && H && H(s, x)) {\n              m.push(\"ml-tensor-cpu-output\");\n              continue;\n            }\n            if (W !== \"cpu\" && W !== \"cpu-pinned\" && W !== \"gpu-buffer\" && W !== \"ml-tensor\") throw new Error(`Not supported preferred output location: ${W}.`);\n            if (l && W !== \"gpu-buffer\") throw new Error(`Not supported preferred output location: ${W}. Only 'gpu-buffer' location is supported when enableGraphCapture is true.`);\n            m.push(W);\n          }\n        }\n        let A = null;\n        return m.some((w) => w === \"gpu-buffer\" || w === \"ml-tensor\" || w === \"ml-tensor-cpu-output\") && (i = n._OrtCreateBinding(s), i === 0 && S(\"Can't create IO binding.\"), A = { handle: i, outputPreferredLocations: m, outputPreferredLocationsEncoded: m.map((w) => w === \"ml-tensor-cpu-output\" ? \"ml-tensor\" : w).map((w) => yt(w)) }), de.set(s, [s, f, d, A, l, false]), [s, h, b, E, y];\n      } catch (p) {\n        throw f.forEach((c) => n._OrtFree(c)), d.forEach((c) => n._OrtFree(c)), i !== 0 && n._OrtReleaseBinding(i) !== 0 && S(\"Can't release IO binding.\"), s !== 0 && n._OrtReleaseSession(s) !== 0 && S(\"Can't release session.\"), p;\n      } finally {\n        n._free(r), a !== 0 && n._OrtReleaseSessionOptions(a) !== 0 && S(\"Can't release session options.\"), u.forEach((p) => n._free(p)), n.unmountExternalData?.();\n      }\n    }, Re = (t) => {\n      let e = I(), r = de.get(t);\n      if (!r) throw new Error(`cannot release session. invalid session id: ${t}`);\n      let [o, n, s, a, i] = r;\n      a && (i && e._OrtClearBoundOutputs(a.handle) !== 0 && S(\"Can't clear bound outputs.\"), e._OrtReleaseBinding(a.handle) !== 0 && S(\"Can't release IO binding.\")), e.jsepOnReleaseSession?.(t), e.webnnOnReleaseSession?.(t), e.webgpuOnReleaseSession?.(t), n.forEach((u) => e._OrtFree(u)), s.forEach((u) => e._OrtFree(u)), e._OrtReleaseSession(o) !== 0 && S(\"Can't release session.\"), de.delete(t);\n    }, Ur = async (t, e, r, o, n, s, a = false) => {\n      if (!t) {\n        e.push(0);\n        return;\n      }\n      let i = I(), u = i.PTR_SIZE, f = t[0], d = t[1], p = t[3], c = p, l, h;\n      if (f === \"string\" && (p === \"gpu-buffer\" || p === \"ml-tensor\")) throw new Error(\"String tensor is not supported on GPU.\");\n      if (a && p !== \"gpu-buffer\") throw new Error(`External buffer must be provided for input/output index ${s} when enableGraphCapture is true.`);\n      if (p === \"gpu-buffer\") {\n        let y = t[2].gpuBuffer;\n        h = le(re(f), d);\n        {\n          let m = i.webgpuRegisterBuffer;\n          if (!m) throw new Error('Tensor location \"gpu-buffer\" is not supported without using WebGPU.');\n          l = m(y, o);\n        }\n      } else if (p === \"ml-tensor\") {\n        let y = t[2].mlTensor;\n        h = le(re(f), d);\n        let m = i.webnnRegisterMLTensor;\n        if (!m) throw new Error('Tensor location \"ml-tensor\" is not supported without using WebNN.');\n        l = m(o, y, re(f), d);\n      } else {\n        let y = t[2];\n        if (Array.isArray(y)) {\n          h = u * y.length, l = i._malloc(h), r.push(l);\n          for (let m = 0; m < y.length; m++) {\n            if (typeof y[m] != \"string\") throw new TypeError(`tensor data at index ${m} is not a string`);\n            i.setValue(l + m * u, F(y[m], r), \"*\");\n          }\n        } else {\n          let m = i.webnnIsGraphInput, A = i.webnnIsGraphOutput;\n          if (f !== \"string\" && m && A) {\n            let w = i.UTF8ToString(n);\n            if (m(o, w) || A(o, w)) {\n              let L = re(f);\n              h = le(L, d), c = \"ml-tensor\";\n              let C = i.webnnCreateTemporaryTensor, k = i.webnnUploadTensor;\n              if (!C || !k) throw new Error('Tensor location \"ml-tensor\" is not supported without using WebNN.');\n              let x = await C(o, L, d);\n              k(x, new Uint8Array(y.buffer, y.byteOffset, y.byteLength)), l = x;\n            } else h = y.byteLength, l = i._malloc(h), r.push(l), i.HEAPU8.set(new Uint8Array(y.buffer, y.byteOffset, h), l);\n          } else h = y.byteLength, l = i._malloc(h), r.push(l), i.HEAPU8.set(new Uint8Array(y.buffer, y.byteOffset, h), l);\n        }\n      }\n      let b = i.stackSave(), E = i.stackAlloc(4 * d.length);\n      try {\n        d.forEach((m, A) => i.setValue(E + A * u, m, u === 4 ? \"i32\" : \"i64\"));\n        let y = i._OrtCreateTensor(re(f), l, h, E, d.length, yt(c));\n        y === 0 && S(`Can't create tensor for input/output. session=${o}, index=${s}.`), e.push(y);\n      } finally {\n        i.stackRestore(b);\n      }\n    }, Ne = async (t, e, r, o, n, s) => {\n      let a = I(), i = a.PTR_SIZE, u = de.get(t);\n      if (!u) throw new Error(`cannot run inference. invalid session id: ${t}`);\n      let f = u[0], d = u[1], p = u[2], c = u[3], l = u[4], h = u[5], b = e.length, E = o.length, y = 0, m = [], A = [], w = [], L = [], C = [], k = a.stackSave(), x = a.stackAlloc(b * i), W = a.stackAlloc(b * i), H = a.stackAlloc(E * i), Lt = a.stackAlloc(E * i);\n      try {\n        [y, m] = mr(s), Z(\"wasm prepareInputOutputTensor\");\n        for (let g = 0; g < b; g++) await Ur(r[g], A, L, t, d[e[g]], e[g], l);\n        for (let g = 0; g < E; g++) await Ur(n[g], w, L, t, p[o[g]], b + o[g], l);\n        K(\"wasm prepareInputOutputTensor\");\n        for (let g = 0; g < b; g++) a.setValue(x + g * i, A[g], \"*\"), a.setValue(W + g * i, d[e[g]], \"*\");\n        for (let g = 0; g < E; g++) a.setValue(H + g * i, w[g], \"*\"), a.setValue(Lt + g * i, p[o[g]], \"*\");\n        if (c && !h) {\n          let { handle: g, outputPreferredLocations: $, outputPreferredLocationsEncoded: et } = c;\n          if (d.length !== b) throw new Error(`input count from feeds (${b}) is expected to be always equal to model's input count (${d.length}).`);\n          Z(\"wasm bindInputsOutputs\");\n          for (let B = 0; B < b; B++) {\n            let j = e[B];\n            await a._OrtBindInput(g, d[j], A[B]) !== 0 && S(`Can't bind input[${B}] for session=${t}.`);\n          }\n          for (let B = 0; B < E; B++) {\n            let j = o[B];\n            n[B]?.[3] ? (C.push(w[B]), a._OrtBindOutput(g, p[j], w[B], 0) !== 0 && S(`Can't bind pre-allocated output[${B}] for session=${t}.`)) : a._OrtBindOutput(g, p[j], 0, et[j]) !== 0 && S(`Can't bind output[${B}] to ${$[B]} for session=${t}.`);\n          }\n          K(\"wasm bindInputsOutputs\"), de.set(t, [f, d, p, c, l, true]);\n        }\n        a.jsepOnRunStart?.(f), a.webnnOnRunStart?.(f);\n        let D;\n        c ? D = await a._OrtRunWithBinding(f, c.handle, E, H, y) : D = await a._OrtRun(f, W, x, b, Lt, E, H, y), D !== 0 && S(\"failed to call OrtRun().\");\n        let J = [], At = [];\n        Z(\"wasm ProcessOutputTensor\");\n        for (let g = 0; g < E; g++) {\n          let $ = Number(a.getValue(H + g * i, \"*\"));\n          if ($ === w[g] || C.includes(w[g])) {\n            J.push(n[g]), $ !== w[g] && a._OrtReleaseTensor($) !== 0 && S(\"Can't release tensor.\");\n            continue;\n          }\n          let et = a.stackSave(), B = a.stackAlloc(4 * i), j = false, O, R = 0;\n          try {\n            a._OrtGetTensorData($, B, B + i, B + 2 * i, B + 3 * i) !== 0 && S(`Can't access output tensor data on index ${g}.`);\n            let tt = i === 4 ? \"i32\" : \"i64\", Ae = Number(a.getValue(B, tt));\n            R = a.getValue(B + i, \"*\");\n            let vt = a.getValue(B + i * 2, \"*\"), jr = Number(a.getValue(B + i * 3, tt)), q = [];\n            for (let P = 0; P < jr; P++) q.push(Number(a.getValue(vt + P * i, tt)));\n            a._OrtFree(vt) !== 0 && S(\"Can't free memory for tensor dims.\");\n            let Y = q.reduce((P, M) => P * M, 1);\n            O = ze(Ae);\n            let ye = c?.outputPreferredLocations[o[g]];\n            if (O === \"string\") {\n              if (ye === \"gpu-buffer\" || ye === \"ml-tensor\") throw new Error(\"String tensor is not supported on GPU.\");\n              let P = [];\n              for (let M = 0; M < Y; M++) {\n                let X = a.getValue(R + M * i, \"*\"), be = a.getValue(R + (M + 1) * i, \"*\"), rt = M === Y - 1 ? void 0 : be - X;\n                P.push(a.UTF8ToString(X, rt));\n              }\n              J.push([O, q, P, \"cpu\"]);\n            } else if (ye === \"gpu-buffer\" && Y > 0) {\n              let P = a.webgpuGetBuffer;\n              if (!P) throw new Error('preferredLocation \"gpu-buffer\" is not supported without using WebGPU.');\n              let M = P(R), X = le(Ae, Y);\n              if (X === void 0 || !Ve(O)) throw new Error(`Unsupported data type: ${O}`);\n              j = true;\n              {\n                a.webgpuRegisterBuffer(M, t, R);\n                let be = a.webgpuCreateDownloader(M, X, t);\n                J.push([O, q, { gpuBuffer: M, download: async () => {\n                  let rt = await be();\n                  return new (fe(O))(rt);\n                }, dispose: () => {\n                  a._OrtReleaseTensor($) !== 0 && S(\"Can't release tensor.\");\n                } }, \"gpu-buffer\"]);\n              }\n            } else if (ye === \"ml-tensor\" && Y > 0) {\n              let P = a.webnnEnsureTensor, M = a.webnnIsGraphInputOutputTypeSupported;\n              if (!P || !M) throw new Error('preferredLocation \"ml-tensor\" is not supported without using WebNN.');\n              if (le(Ae, Y) === void 0 || !je(O)) throw new Error(`Unsupported data type: ${O}`);\n              if (!M(t, O, false)) throw new Error(`preferredLocation \"ml-tensor\" for ${O} output is not supported by current WebNN Context.`);\n              let be = await P(t, R, Ae, q, false);\n              j = true, J.push([O, q, { mlTensor: be, download: a.webnnCreateMLTensorDownloader(R, O), dispose: () => {\n                a.webnnReleaseTensorId(R), a._OrtReleaseTensor($);\n              } }, \"ml-tensor\"]);\n            } else if (ye === \"ml-tensor-cpu-output\" && Y > 0) {\n              let P = a.webnnCreateMLTensorDownloader(R, O)(), M = J.length;\n              j = true, At.push((async () => {\n                let X = [M, await P];\n                return a.webnnReleaseTensorId(R), a._OrtReleaseTensor($), X;\n              })()), J.push([O, q, [], \"cpu\"]);\n            } else {\n              let P = fe(O), M = new P(Y);\n              new Uint8Array(M.buffer, M.byteOffset, M.byteLength).set(a.HEAPU8.subarray(R, R + M.byteLength)), J.push([O, q, M, \"cpu\"]);\n            }\n          } finally {\n            a.stackRestore(et), O === \"string\" && R && a._free(R), j || a._OrtReleaseTensor($);\n          }\n        }\n        c && !l && (a._OrtClearBoundOutputs(c.handle) !== 0 && S(\"Can't clear bound outputs.\"), de.set(t, [f, d, p, c, l, false]));\n        for (let [g, $] of await Promise.all(At)) J[g][2] = $;\n        return K(\"wasm ProcessOutputTensor\"), J;\n      } finally {\n        a.webnnOnRunEnd?.(f), a.stackRestore(k), r.forEach((D) => {\n          D && D[3] === \"gpu-buffer\" && a.webgpuUnregisterBuffer(D[2].gpuBuffer);\n        }), n.forEach((D) => {\n          D && D[3] === \"gpu-buffer\" && a.webgpuUnregisterBuffer(D[2].gpuBuffer);\n        }), A.forEach((D) => a._OrtReleaseTensor(D)), w.forEach((D) => a._OrtReleaseTensor(D)), L.forEach((D) => a._free(D)), y !== 0 && a._OrtReleaseRunOptions(y), m.forEach((D) => a._free(D));\n      }\n    }, Fe = (t) => {\n      let e = I(), r = de.get(t);\n      if (!r) throw new Error(\"invalid session id\");\n      let o = r[0], n = e._OrtEndProfiling(o);\n      n === 0 && S(\"Can't get an profile file name.\"), e._OrtFree(n);\n    }, We = (t) => {\n      let e = [];\n      for (let r of t) {\n        let o = r[2];\n        !Array.isArray(o) && \"buffer\" in o && e.push(o.buffer);\n      }\n      return e;\n    };\n  });\n  var pe;\n  var z;\n  var Le;\n  var Xe;\n  var Ze;\n  var Ye;\n  var Et;\n  var St;\n  var me;\n  var he;\n  var Sn;\n  var Cr;\n  var Pr;\n  var _r;\n  var Rr;\n  var Nr;\n  var Fr;\n  var Wr;\n  var It = T(() => {\n    \"use strict\";\n    Q();\n    pt();\n    ee();\n    De();\n    pe = () => !!v.wasm.proxy && typeof document < \"u\", Le = false, Xe = false, Ze = false, St = /* @__PURE__ */ new Map(), me = (t, e) => {\n      let r = St.get(t);\n      r ? r.push(e) : St.set(t, [e]);\n    }, he = () => {\n      if (Le || !Xe || Ze || !z) throw new Error(\"worker not ready\");\n    }, Sn = (t) => {\n      switch (t.data.type) {\n        case \"init-wasm\":\n          Le = false, t.data.err ? (Ze = true, Et[1](t.data.err)) : (Xe = true, Et[0]()), Ye && (URL.revokeObjectURL(Ye), Ye = void 0);\n          break;\n        case \"init-ep\":\n        case \"copy-from\":\n        case \"create\":\n        case \"release\":\n        case \"run\":\n        case \"end-profiling\": {\n          let e = St.get(t.data.type);\n          t.data.err ? e.shift()[1](t.data.err) : e.shift()[0](t.data.out);\n          break;\n        }\n        default:\n      }\n    }, Cr = async () => {\n      if (!Xe) {\n        if (Le) throw new Error(\"multiple calls to 'initWasm()' detected.\");\n        if (Ze) throw new Error(\"previous call to 'initWasm()' failed.\");\n        if (Le = true, pe()) return new Promise((t, e) => {\n          z?.terminate(), dr().then(([r, o]) => {\n            try {\n              z = o, z.onerror = (s) => e(s), z.onmessage = Sn, Et = [t, e];\n              let n = { type: \"init-wasm\", in: v };\n              if (!n.in.wasm.wasmPaths && r) {\n                let s = ke();\n                s && (n.in.wasm.wasmPaths = s);\n              }\n              z.postMessage(n), Ye = r;\n            } catch (n) {\n              e(n);\n            }\n          }, e);\n        });\n        try {\n          await Ue(v.wasm), await Ce(v), Xe = true;\n        } catch (t) {\n          throw Ze = true, t;\n        } finally {\n          Le = false;\n        }\n      }\n    }, Pr = async (t) => {\n      if (pe()) return he(), new Promise((e, r) => {\n        me(\"init-ep\", [e, r]);\n        let o = { type: \"init-ep\", in: { epName: t, env: v } };\n        z.postMessage(o);\n      });\n      await Pe(v, t);\n    }, _r = async (t) => pe() ? (he(), new Promise((e, r) => {\n      me(\"copy-from\", [e, r]);\n      let o = { type: \"copy-from\", in: { buffer: t } };\n      z.postMessage(o, [t.buffer]);\n    })) : ge(t), Rr = async (t, e) => {\n      if (pe()) {\n        if (e?.preferredOutputLocation) throw new Error('session option \"preferredOutputLocation\" is not supported for proxy.');\n        return he(), new Promise((r, o) => {\n          me(\"create\", [r, o]);\n          let n = { type: \"create\", in: { model: t, options: { ...e } } }, s = [];\n          t instanceof Uint8Array && s.push(t.buffer), z.postMessage(n, s);\n        });\n      } else return _e(t, e);\n    }, Nr = async (t) => {\n      if (pe()) return he(), new Promise((e, r) => {\n        me(\"release\", [e, r]);\n        let o = { type: \"release\", in: t };\n        z.postMessage(o);\n      });\n      Re(t);\n    }, Fr = async (t, e, r, o, n, s) => {\n      if (pe()) {\n        if (r.some((a) => a[3] !== \"cpu\")) throw new Error(\"input tensor on GPU is not supported for proxy.\");\n        if (n.some((a) => a)) throw new Error(\"pre-allocated output tensor is not supported for proxy.\");\n        return he(), new Promise((a, i) => {\n          me(\"run\", [a, i]);\n          let u = r, f = { type: \"run\", in: { sessionId: t, inputIndices: e, inputs: u, outputIndices: o, options: s } };\n          z.postMessage(f, We(u));\n        });\n      } else return Ne(t, e, r, o, n, s);\n    }, Wr = async (t) => {\n      if (pe()) return he(), new Promise((e, r) => {\n        me(\"end-profiling\", [e, r]);\n        let o = { type: \"end-profiling\", in: t };\n        z.postMessage(o);\n      });\n      Fe(t);\n    };\n  });\n  var kr;\n  var In;\n  var Ke;\n  var Gr = T(() => {\n    \"use strict\";\n    Q();\n    It();\n    ce();\n    Oe();\n    bt();\n    kr = (t, e) => {\n      switch (t.location) {\n        case \"cpu\":\n          return [t.type, t.dims, t.data, \"cpu\"];\n        case \"gpu-buffer\":\n          return [t.type, t.dims, { gpuBuffer: t.gpuBuffer }, \"gpu-buffer\"];\n        case \"ml-tensor\":\n          return [t.type, t.dims, { mlTensor: t.mlTensor }, \"ml-tensor\"];\n        default:\n          throw new Error(`invalid data location: ${t.location} for ${e()}`);\n      }\n    }, In = (t) => {\n      switch (t[3]) {\n        case \"cpu\":\n          return new V(t[0], t[2], t[1]);\n        case \"gpu-buffer\": {\n          let e = t[0];\n          if (!Ve(e)) throw new Error(`not supported data type: ${e} for deserializing GPU tensor`);\n          let { gpuBuffer: r, download: o, dispose: n } = t[2];\n          return V.fromGpuBuffer(r, { dataType: e, dims: t[1], download: o, dispose: n });\n        }\n        case \"ml-tensor\": {\n          let e = t[0];\n          if (!je(e)) throw new Error(`not supported data type: ${e} for deserializing MLTensor tensor`);\n          let { mlTensor: r, download: o, dispose: n } = t[2];\n          return V.fromMLTensor(r, { dataType: e, dims: t[1], download: o, dispose: n });\n        }\n        default:\n          throw new Error(`invalid data location: ${t[3]}`);\n      }\n    }, Ke = class {\n      async fetchModelAndCopyToWasmMemory(e) {\n        return _r(await Ie(e));\n      }\n      async loadModel(e, r) {\n        ae();\n        let o;\n        typeof e == \"string\" ? o = await this.fetchModelAndCopyToWasmMemory(e) : o = e, [this.sessionId, this.inputNames, this.outputNames, this.inputMetadata, this.outputMetadata] = await Rr(o, r), ie();\n      }\n      async dispose() {\n        return Nr(this.sessionId);\n      }\n      async run(e, r, o) {\n        ae();\n        let n = [], s = [];\n        Object.entries(e).forEach((c) => {\n          let l = c[0], h = c[1], b = this.inputNames.indexOf(l);\n          if (b === -1) throw new Error(`invalid input '${l}'`);\n          n.push(h), s.push(b);\n        });\n        let a = [], i = [];\n        Object.entries(r).forEach((c) => {\n          let l = c[0], h = c[1], b = this.outputNames.indexOf(l);\n          if (b === -1) throw new Error(`invalid output '${l}'`);\n          a.push(h), i.push(b);\n        });\n        let u = n.map((c, l) => kr(c, () => `input \"${this.inputNames[s[l]]}\"`)), f = a.map((c, l) => c ? kr(c, () => `output \"${this.outputNames[i[l]]}\"`) : null), d = await Fr(this.sessionId, s, u, i, f, o), p = {};\n        for (let c = 0; c < d.length; c++) p[this.outputNames[i[c]]] = a[c] ?? In(d[c]);\n        return ie(), p;\n      }\n      startProfiling() {\n      }\n      endProfiling() {\n        Wr(this.sessionId);\n      }\n    };\n  });\n  var zr = {};\n  ve(zr, { OnnxruntimeWebAssemblyBackend: () => Qe, initializeFlags: () => $r, wasmBackend: () => Ln });\n  var $r;\n  var Qe;\n  var Ln;\n  var Vr = T(() => {\n    \"use strict\";\n    Q();\n    It();\n    Gr();\n    $r = () => {\n      (typeof v.wasm.initTimeout != \"number\" || v.wasm.initTimeout < 0) && (v.wasm.initTimeout = 0);\n      let t = v.wasm.simd;\n      if (typeof t != \"boolean\" && t !== void 0 && t !== \"fixed\" && t !== \"relaxed\" && (console.warn(`Property \"env.wasm.simd\" is set to unknown value \"${t}\". Reset it to \\`false\\` and ignore SIMD feature checking.`), v.wasm.simd = false), typeof v.wasm.proxy != \"boolean\" && (v.wasm.proxy = false), typeof v.wasm.trace != \"boolean\" && (v.wasm.trace = false), typeof v.wasm.numThreads != \"number\" || !Number.isInteger(v.wasm.numThreads) || v.wasm.numThreads <= 0) if (typeof self < \"u\" && !self.crossOriginIsolated) v.wasm.numThreads = 1;\n      else {\n        let e = typeof navigator > \"u\" ? ot(\"node:os\").cpus().length : navigator.hardwareConcurrency;\n        v.wasm.numThreads = Math.min(4, Math.ceil((e || 1) / 2));\n      }\n    }, Qe = class {\n      async init(e) {\n        $r(), await Cr(), await Pr(e);\n      }\n      async createInferenceSessionHandler(e, r) {\n        let o = new Ke();\n        return await o.loadModel(e, r), o;\n      }\n    }, Ln = new Qe();\n  });\n  Q();\n  Q();\n  Q();\n  var rr = \"1.30.0\";\n  {\n    let t = (Vr(), st(zr)).wasmBackend;\n    oe(\"webgpu\", t, 5), oe(\"webnn\", t, 5), oe(\"cpu\", t, 10), oe(\"wasm\", t, 10);\n  }\n  Object.defineProperty(v.versions, \"web\", { value: rr, enumerable: true });\n\n  // page/src/agreement.js\n  var LIMITS = { box: 0.5, score: 5e-3 };\n  var SEEN = 0.05;\n  function isClose({ box, score }) {\n    return box <= LIMITS.box && score <= LIMITS.score;\n  }\n  function differenceOfCells(one, other, width, inRows) {\n    const most = [0, 0];\n    const boxes = one.length / width;\n    for (let k = 0; k < one.length; k++) {\n      const place = inRows ? Math.floor(k / boxes) : k % width;\n      const kind = place < 4 ? 0 : 1;\n      const gap = Math.abs(one[k] - other[k]);\n      if (Number.isNaN(gap)) return { box: gap, score: gap };\n      if (gap > most[kind]) most[kind] = gap;\n    }\n    return { box: most[0], score: most[1] };\n  }\n  function nearest(box, boxes) {\n    let best = { box: Number.POSITIVE_INFINITY, score: Number.POSITIVE_INFINITY };\n    for (const other of boxes) {\n      if (other[5] !== box[5]) continue;\n      const gap = Math.max(...[0, 1, 2, 3].map((k) => Math.abs(box[k] - other[k])));\n      const score = Math.abs(box[4] - other[4]);\n      if (gap < best.box || gap === best.box && score < best.score) best = { box: gap, score };\n    }\n    return best;\n  }\n  function differenceOfFinished(one, other) {\n    const rows = (output) => Array.from({ length: output.length / 6 }, (_2, k) => output.subarray(6 * k, 6 * k + 6));\n    const most = { box: 0, score: 0 };\n    for (const [from, to] of [\n      [rows(one), rows(other)],\n      [rows(other), rows(one)]\n    ]) {\n      for (const box of from) {\n        if (box[4] < SEEN) continue;\n        const gap = nearest(box, to);\n        most.box = Math.max(gap.box, most.box);\n        most.score = Math.max(gap.score, most.score);\n      }\n    }\n    return most;\n  }\n  function outputDifference(one, other, layout, width) {\n    if (layout === \"finished\") return differenceOfFinished(one, other);\n    if (one.length !== other.length) {\n      return { box: Number.POSITIVE_INFINITY, score: Number.POSITIVE_INFINITY };\n    }\n    return differenceOfCells(one, other, width, layout === \"rows\");\n  }\n  function inWords({ box, score }) {\n    const digits = (value) => Number.isFinite(value) ? value.toPrecision(2) : String(value);\n    return `${digits(box)} px, ${digits(score)} in score`;\n  }\n\n  // page/src/failure.js\n  function failure(code, message, cause) {\n    return Object.assign(new Error(message, { cause }), { code });\n  }\n\n  // page/src/assembler.js\n  var [NUMBER, VECTOR] = [127, 123];\n  function leb(value) {\n    const bytes = [];\n    let rest = value;\n    for (; rest < -64 || rest > 63; rest >>= 7) bytes.push(rest & 127 | 128);\n    return [...bytes, rest & 127];\n  }\n  var op = (...bytes) => (...operands) => [...operands, ...bytes];\n  var simd = (number, ...more) => op(253, ...leb(number), ...more);\n  var get = (local) => [32, local];\n  var set = (local, value) => [value, 33, local];\n  var i32 = (value) => [65, leb(value)];\n  var add = op(106);\n  var isBelow = op(73);\n  var load = (address, offset) => [address, 40, 0, offset];\n  var repeat = (condition, ...body) => [3, 64, body, condition, 13, 0, 11];\n  var splat = simd(17);\n  var add4 = simd(174);\n  var multiply4 = simd(181);\n  var shiftRight4 = simd(173);\n  var loadSplat = (address, offset) => [address, 253, 9, 0, offset];\n  var loadBytes = (address) => [address, 253, 92, 0, 0, simd(137)(), simd(169)()];\n  var storeBytes = (address, lanes) => {\n    const lowest = [0, 4, 8, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];\n    return [address, lanes, lanes, 253, 13, lowest, 253, 90, 0, 0, 0];\n  };\n  function compile({ parameters, numbers, vectors }, body) {\n    const part = (...content) => {\n      const bytes2 = content.flat(Number.POSITIVE_INFINITY);\n      return [leb(bytes2.length), bytes2];\n    };\n    const name = (text) => part(...new TextEncoder().encode(text));\n    const sections = [\n      [1, part(1, 96, part(Array(parameters).fill(NUMBER)), 0)],\n      // the function's type\n      [3, part(1, 0)],\n      // the one function has it\n      [5, part(1, 0, 1)],\n      // a memory of one page\n      [7, part(2, name(\"run\"), 0, 0, name(\"memory\"), 2, 0)],\n      [10, part(1, part(2, numbers, NUMBER, vectors, VECTOR, body, 11))]\n    ];\n    const head = [0, 97, 115, 109, 1, 0, 0, 0];\n    const bytes = [...head, ...sections.flat(Number.POSITIVE_INFINITY)];\n    return new WebAssembly.Module(Uint8Array.from(\n      /** @type {number[]} */\n      bytes\n    ));\n  }\n\n  // page/src/letterbox.js\n  var FILL = 114;\n  var PRECISION = 22;\n  var ONE = 1 << PRECISION;\n  var PAGE_BYTES = 65536;\n  var KEPT_BYTES = 32e6;\n  var HALF = 1 << PRECISION - 1;\n  function roundHalfEven(value) {\n    const floor = Math.floor(value);\n    const rest = value - floor;\n    if (rest === 0.5) {\n      return floor % 2 === 0 ? floor : floor + 1;\n    }\n    return rest < 0.5 ? floor : floor + 1;\n  }\n  function fit(width, height, size) {\n    if (!(Math.min(width, height, size) >= 1)) {\n      throw new Error(`cannot letterbox ${width}x${height} to ${size}: sides must be positive`);\n    }\n    const ratio = Math.min(size / height, size / width);\n    const resizedWidth = Math.max(roundHalfEven(width * ratio), 1);\n    const resizedHeight = Math.max(roundHalfEven(height * ratio), 1);\n    const left = roundHalfEven((size - resizedWidth) / 2 - 0.1);\n    const top = roundHalfEven((size - resizedHeight) / 2 - 0.1);\n    return { size, width, height, resizedWidth, resizedHeight, left, top };\n  }\n  function weigh(center, scale, first, count, weights, offset) {\n    const raw = [];\n    let sum = 0;\n    for (let i = 0; i < count; i++) {\n      raw[i] = Math.max(1 - Math.abs((first + i - center + 0.5) * (1 / scale)), 0);\n      sum += raw[i];\n    }\n    for (let i = 0; i < count; i++) {\n      weights[offset + i] = Math.floor(0.5 + raw[i] / sum * ONE);\n    }\n  }\n  function filterTable(inputSize, outputSize, step) {\n    const ratio = inputSize / outputSize;\n    const scale = Math.max(ratio, 1);\n    const columns = Math.ceil(scale) * 2 + 3;\n    const numbers = new Int32Array(outputSize * columns);\n    for (let i = 0; i < outputSize; i++) {\n      const center = (i + 0.5) * ratio;\n      const first = Math.max(Math.trunc(center - scale + 0.5), 0);\n      const count = Math.min(Math.trunc(center + scale + 0.5), inputSize) - first;\n      numbers[i * columns] = first * step;\n      numbers[i * columns + 1] = 4 * count;\n      weigh(center, scale, first, count, numbers, i * columns + 2);\n    }\n    return { numbers, rowBytes: 4 * columns, step };\n  }\n  function resizer() {\n    const [source, target, table, height, width] = [0, 1, 2, 3, 4];\n    const [sourceBelow, sourceRight, tableBelow, tableRight, step] = [5, 6, 7, 8, 9];\n    const [corner, row, left, tap, weight, end, sum] = [10, 11, 12, 13, 14, 15, 16];\n    const increase = (local, by) => set(local, add(get(local), by));\n    const countDown = (local) => [increase(local, i32(-1)), get(local)];\n    return compile({ parameters: 10, numbers: 6, vectors: 1 }, [\n      repeat(\n        countDown(height),\n        set(corner, get(source)),\n        set(row, get(table)),\n        set(left, get(width)),\n        repeat(\n          countDown(left),\n          set(tap, add(get(corner), load(get(row), 0))),\n          set(weight, get(row)),\n          set(end, add(get(row), load(get(row), 4))),\n          set(sum, splat(i32(HALF))),\n          repeat(\n            isBelow(get(weight), get(end)),\n            set(sum, add4(get(sum), multiply4(loadBytes(get(tap)), loadSplat(get(weight), 8)))),\n            increase(tap, get(step)),\n            increase(weight, i32(4))\n          ),\n          storeBytes(get(target), shiftRight4(get(sum), i32(PRECISION))),\n          increase(target, i32(4)),\n          increase(corner, get(sourceRight)),\n          increase(row, get(tableRight))\n        ),\n        increase(source, get(sourceBelow)),\n        increase(table, get(tableBelow))\n      )\n    ]);\n  }\n  var program = resizer();\n  function start() {\n    const { run, memory } = new WebAssembly.Instance(program).exports;\n    return { run: (\n      /** @type {Function} */\n      run\n    ), memory: (\n      /** @type {WebAssembly.Memory} */\n      memory\n    ) };\n  }\n  function startsDownwards({ width, height, resizedWidth, resizedHeight }) {\n    return height > resizedHeight && height - resizedHeight > 2 * (width - resizedWidth);\n  }\n  function createLetterbox(size) {\n    const fractions = Float32Array.from({ length: 256 }, (_2, level) => level / 255);\n    let running = start();\n    let geometry = fit(size, size, size);\n    let resize = () => {\n    };\n    function prepare2(width, height) {\n      geometry = fit(width, height, size);\n      const { resizedWidth, resizedHeight } = geometry;\n      const downFirst = startsDownwards(geometry);\n      const halfWay = 4 * Math.max(width * height, resizedWidth * resizedHeight);\n      const halfWayBytes = 4 * (downFirst ? width * resizedHeight : resizedWidth * height);\n      const across = filterTable(width, resizedWidth, 4);\n      const down = filterTable(height, resizedHeight, 4 * (downFirst ? width : resizedWidth));\n      const acrossAt = halfWay + halfWayBytes;\n      const downAt = acrossAt + across.numbers.byteLength;\n      const { run: run2, memory } = running;\n      const missing = downAt + down.numbers.byteLength - memory.buffer.byteLength;\n      if (missing > 0) memory.grow(Math.ceil(missing / PAGE_BYTES));\n      new Int32Array(memory.buffer, acrossAt).set(across.numbers);\n      new Int32Array(memory.buffer, downAt).set(down.numbers);\n      const goAcross = (from, to, rows) => run2(from, to, acrossAt, rows, resizedWidth, 4 * width, 0, 0, across.rowBytes, across.step);\n      const goDown = (from, to, columns) => run2(from, to, downAt, resizedHeight, columns, 0, 4, down.rowBytes, 0, down.step);\n      resize = () => {\n        if (downFirst) {\n          goDown(0, halfWay, width);\n          goAcross(halfWay, 0, resizedHeight);\n        } else {\n          goAcross(0, halfWay, height);\n          goDown(halfWay, 0, resizedWidth);\n        }\n      };\n    }\n    function spread({ resizedWidth, resizedHeight, left, top }, out) {\n      const pixels = new Uint32Array(running.memory.buffer, 0, resizedWidth * resizedHeight);\n      const plane = size * size;\n      let source = 0;\n      for (let y = 0; y < resizedHeight; y++) {\n        let target = (top + y) * size + left;\n        for (let x = 0; x < resizedWidth; x++) {\n          const pixel = pixels[source++];\n          out[target] = fractions[pixel & 255];\n          out[target + plane] = fractions[pixel >>> 8 & 255];\n          out[target + 2 * plane] = fractions[pixel >>> 16 & 255];\n          target += 1;\n        }\n      }\n    }\n    function run(rgba, width, height, out) {\n      if (rgba.length !== width * height * 4) {\n        throw new Error(`${rgba.length} bytes are no RGBA picture of ${width}x${height}`);\n      }\n      if (out.length !== 3 * size * size) {\n        throw new Error(`out has ${out.length} numbers; needed: 3 x ${size} x ${size}`);\n      }\n      if (geometry.width !== width || geometry.height !== height) prepare2(width, height);\n      new Uint8Array(running.memory.buffer).set(rgba);\n      resize();\n      out.fill(fractions[FILL]);\n      const done = geometry;\n      spread(done, out);\n      if (running.memory.buffer.byteLength > KEPT_BYTES) {\n        running = start();\n        prepare2(size, size);\n      }\n      return done;\n    }\n    prepare2(size, size);\n    return { run };\n  }\n\n  // page/src/nms.js\n  var CLASS_SHIFT = 7680;\n  var MAX_CANDIDATES = 3e4;\n  var float32 = Math.fround;\n  function requireFinite(output) {\n    for (let i = 0; i < output.length; i++) {\n      if (!Number.isFinite(output[i])) {\n        throw failure(\n          \"model-refused\",\n          \"its output contains NaN or infinity: its weights are damaged, or too large to compute with; check them (np.isfinite) and export it again, or choose another back end\"\n        );\n      }\n    }\n  }\n  function bestClasses(output, numClasses, anchors, scores, classes) {\n    const start3 = 4 * anchors;\n    for (let a = 0; a < anchors; a++) {\n      scores[a] = output[start3 + a];\n      classes[a] = 0;\n    }\n    for (let c = 1; c < numClasses; c++) {\n      const row = (4 + c) * anchors;\n      for (let a = 0; a < anchors; a++) {\n        if (output[row + a] > scores[a]) {\n          scores[a] = output[row + a];\n          classes[a] = c;\n        }\n      }\n    }\n  }\n  function transpose(output, rows, columns) {\n    const turned = new Float32Array(output.length);\n    for (let row = 0; row < rows; row++) {\n      for (let column = 0; column < columns; column++) {\n        turned[column * rows + row] = output[row * columns + column];\n      }\n    }\n    return turned;\n  }\n  function withoutObjectness(output, boxes, width) {\n    const rows = new Float32Array(boxes * (width - 1));\n    for (let a = 0; a < boxes; a++) {\n      const start3 = a * width;\n      for (let k = 0; k < 4; k++) rows[k * boxes + a] = output[start3 + k];\n      for (let k = 5; k < width; k++) {\n        rows[(k - 1) * boxes + a] = output[start3 + k] * output[start3 + 4];\n      }\n    }\n    return rows;\n  }\n  function readFinished(output, numClasses, anchors, scores, classes) {\n    for (let a = 0; a < anchors; a++) {\n      const number = output[6 * a + 5];\n      scores[a] = output[6 * a + 4];\n      classes[a] = number;\n      if (scores[a] > 0 && !(classes[a] === number && number >= 0 && number < numClasses)) {\n        throw failure(\n          \"model-refused\",\n          `its output (1, ${anchors}, 6) is read as x1, y1, x2, y2, score, class, and gives a class ${number}; its file names ${numClasses}, from 0`\n        );\n      }\n    }\n  }\n  function copyCorners(output, order, corners) {\n    for (let i = 0; i < order.length; i++) {\n      corners.set(output.subarray(6 * order[i], 6 * order[i] + 4), 4 * i);\n    }\n  }\n  function fillCorners(output, anchors, order, corners) {\n    for (let i = 0; i < order.length; i++) {\n      const a = order[i];\n      const halfWidth = output[2 * anchors + a] / 2;\n      const halfHeight = output[3 * anchors + a] / 2;\n      corners[4 * i] = output[a] - halfWidth;\n      corners[4 * i + 1] = output[anchors + a] - halfHeight;\n      corners[4 * i + 2] = output[a] + halfWidth;\n      corners[4 * i + 3] = output[anchors + a] + halfHeight;\n    }\n  }\n  function shiftByClass(order, classes, corners, shifted, areas) {\n    for (let i = 0; i < order.length; i++) {\n      const shift = classes[order[i]] * CLASS_SHIFT;\n      for (let k = 4 * i; k < 4 * i + 4; k++) {\n        shifted[k] = corners[k] + shift;\n      }\n      const width = float32(shifted[4 * i + 2] - shifted[4 * i]);\n      const height = float32(shifted[4 * i + 3] - shifted[4 * i + 1]);\n      areas[i] = width * height;\n    }\n  }\n  function overlap(boxes, areas, i, j, limit) {\n    const width = float32(\n      Math.min(boxes[4 * i + 2], boxes[4 * j + 2]) - Math.max(boxes[4 * i], boxes[4 * j])\n    );\n    const height = float32(\n      Math.min(boxes[4 * i + 3], boxes[4 * j + 3]) - Math.max(boxes[4 * i + 1], boxes[4 * j + 1])\n    );\n    const inter = float32(Math.max(width, 0) * Math.max(height, 0));\n    const union = float32(float32(areas[i] + areas[j]) - inter);\n    const iou = union > 0 ? float32(inter / union) : 0;\n    return iou > limit;\n  }\n  function suppress(count, boxes, areas, limit, maxDetections, kept) {\n    let found = 0;\n    for (let i = 0; i < count && found < maxDetections; i++) {\n      let alive = true;\n      for (let k = 0; k < found && alive; k++) {\n        alive = !overlap(boxes, areas, i, kept[k], limit);\n      }\n      if (alive) {\n        kept[found++] = i;\n      }\n    }\n    return found;\n  }\n  function usualWidth(layout, numClasses) {\n    if (layout === \"finished\") return 6;\n    return (layout === \"objectness\" ? 5 : 4) + numClasses;\n  }\n  function createPostprocess(numClasses, anchors, layout = \"rows\", width = 0) {\n    const perBox = width || usualWidth(layout, numClasses);\n    if (layout !== \"finished\") return createForBoxes(numClasses, anchors, layout, perBox);\n    let [present, count] = [createForBoxes(numClasses, anchors, layout, perBox), anchors];\n    const run = (output, geometry, options) => {\n      if (output.length % perBox === 0 && output.length !== count * perBox) {\n        count = output.length / perBox;\n        present = createForBoxes(numClasses, count, layout, perBox);\n      }\n      return present.run(output, geometry, options);\n    };\n    return { run };\n  }\n  function createForBoxes(numClasses, anchors, layout, perBox) {\n    const scores = new Float32Array(anchors);\n    const classes = new Int32Array(anchors);\n    const candidates = new Int32Array(anchors);\n    const corners = new Float32Array(4 * anchors);\n    const shifted = new Float32Array(4 * anchors);\n    const areas = new Float32Array(anchors);\n    const kept = new Int32Array(anchors);\n    const wanted = new Uint8Array(numClasses);\n    function markWanted(enabled) {\n      wanted.fill(enabled === null ? 1 : 0);\n      for (const classId of enabled ?? []) {\n        wanted[classId] = 1;\n      }\n    }\n    function choose(confidence) {\n      let count = 0;\n      for (let a = 0; a < anchors; a++) {\n        if (scores[a] > confidence && wanted[classes[a]] === 1) {\n          candidates[count++] = a;\n        }\n      }\n      const order = candidates.subarray(0, count);\n      order.sort((a, b) => scores[b] - scores[a] || a - b);\n      return order.subarray(0, MAX_CANDIDATES);\n    }\n    function decode2(output, confidence) {\n      let rows = output;\n      if (layout === \"columns\") rows = transpose(output, anchors, perBox);\n      if (layout === \"objectness\") rows = withoutObjectness(output, anchors, perBox);\n      bestClasses(rows, numClasses, anchors, scores, classes);\n      const order = choose(float32(confidence));\n      fillCorners(rows, anchors, order, corners);\n      return order;\n    }\n    function readBoxes(output, confidence) {\n      readFinished(output, numClasses, anchors, scores, classes);\n      const order = choose(float32(confidence));\n      copyCorners(output, order, corners);\n      return order;\n    }\n    function detection(place, anchor, geometry) {\n      const { width, height, left, top } = geometry;\n      const scaleX = geometry.resizedWidth / width;\n      const scaleY = geometry.resizedHeight / height;\n      const x = (value) => float32(Math.min(Math.max((value - left) / scaleX, 0), width));\n      const y = (value) => float32(Math.min(Math.max((value - top) / scaleY, 0), height));\n      return {\n        x1: x(corners[4 * place]),\n        y1: y(corners[4 * place + 1]),\n        x2: x(corners[4 * place + 2]),\n        y2: y(corners[4 * place + 3]),\n        score: scores[anchor],\n        classId: classes[anchor]\n      };\n    }\n    function run(output, geometry, { confidence, iou, enabled = null, maxDetections = 300 }) {\n      if (output.length !== perBox * anchors) {\n        throw failure(\n          \"runtime\",\n          `the model gave ${output.length} numbers; needed: ${perBox} x ${anchors}`\n        );\n      }\n      requireFinite(output);\n      markWanted(enabled);\n      const order = layout === \"finished\" ? readBoxes(output, confidence) : decode2(output, confidence);\n      shiftByClass(order, classes, corners, shifted, areas);\n      const most = layout === \"finished\" ? Number.POSITIVE_INFINITY : float32(iou);\n      const limit = Math.min(maxDetections, order.length);\n      const found = suppress(order.length, shifted, areas, most, limit, kept);\n      const detections = [];\n      for (let i = 0; i < found; i++) {\n        detections.push(detection(kept[i], order[kept[i]], geometry));\n      }\n      return detections;\n    }\n    return { run };\n  }\n\n  // page/src/outputs.js\n  var STRIDES = [8, 16, 32];\n  var ANCHORS = 3;\n  var COCO = 80;\n  function boxesOfCell(boxes, side) {\n    const cells = STRIDES.reduce((sum, stride) => sum + Math.floor(side / stride) ** 2, 0);\n    return [1, ANCHORS].find((count) => boxes === count * cells) ?? 0;\n  }\n  function layoutWithNames(first, last, { side, classes, masks }) {\n    const perCell = boxesOfCell(first, side);\n    if (first === 4 + classes || first === 4 + classes + masks) return \"rows\";\n    if (perCell && (last === 5 + classes || last === 5 + classes + masks)) return \"objectness\";\n    if (last === 6 && !(classes === 2 && perCell)) return \"finished\";\n    return last === 4 + classes || last === 4 + classes + masks ? \"columns\" : null;\n  }\n  function layoutWithoutNames(first, last, { side, masks }) {\n    const perCell = boxesOfCell(first, side);\n    if (last === 6 && !perCell && (first > 6 || first < 5)) {\n      throw failure(\n        \"model-shape\",\n        `the model's output (1, ${first}, 6) gives the classes of finished boxes by numbers, and the file does not name them; needed: metadata \"names\" such as {0: 'person', 1: 'cell phone'}`\n      );\n    }\n    if (perCell === ANCHORS && last > 5 + masks) return \"objectness\";\n    if (perCell && last === 5 + COCO + masks) {\n      throw failure(\n        \"model-shape\",\n        `the model's output (1, ${first}, ${last}) has ${last - masks - 4} classes, or ${COCO} and an objectness, and the file does not name them; needed: metadata \"names\" such as {0: 'person'}`\n      );\n    }\n    if (first > 4 + masks && first <= last) return \"rows\";\n    return last > 4 + masks && last < first ? \"columns\" : null;\n  }\n  function countClasses(layout, width, masks) {\n    return width - masks - (layout === \"objectness\" ? 5 : 4);\n  }\n  function readShape(dims, names, side, masks = 0) {\n    const [batch, first, last] = dims.length === 2 && dims[1] === 6 ? [1, ...dims] : dims;\n    const find = names ? layoutWithNames : layoutWithoutNames;\n    const isTable = batch === 1 && last > 0 && (dims.length === 3 || dims[1] === 6);\n    const facts = { side, classes: names?.length ?? 0, masks };\n    const layout = isTable && (first > 0 || last === 6) ? find(first, last, facts) : null;\n    if (!layout) {\n      const rows = names ? 4 + names.length : \"4 + classes\";\n      throw failure(\n        \"model-shape\",\n        `the model's output has the shape (${dims.join(\", \")}); needed: (1, ${rows}, boxes) or (1, boxes, ${rows})${names ? ` for its ${names.length} classes` : \"\"}, or finished boxes (1, boxes, 6)`\n      );\n    }\n    const [boxes, width] = layout === \"rows\" ? [last, first] : [first, last];\n    const count = countClasses(layout, width, masks);\n    const made = () => Array.from({ length: count }, (_2, number) => `class ${number}`);\n    return { layout, boxes, width, names: names ?? made() };\n  }\n  var TOLERANCE = 0.01;\n  function requireScores(output, { layout, boxes, width }) {\n    if (layout === \"finished\") return;\n    for (let k = 0; k < output.length; k++) {\n      const place = layout === \"rows\" ? Math.floor(k / boxes) : k % width;\n      if (place < 4 || output[k] >= -TOLERANCE && output[k] <= 1 + TOLERANCE) continue;\n      throw failure(\n        \"model-shape\",\n        `the file names no classes, and what stands behind the boxes of its output is no score from 0 to 1 (${output[k].toFixed(3)}): it may hold masks or points, too; needed: metadata \"names\" such as {0: 'person', 1: 'cell phone'}`\n      );\n    }\n  }\n\n  // page/src/refusal.js\n  var MEANINGS = [\n    [\n      /Opset (\\d+) is under development.*?domain (\\S+) is till opset (\\d+)/s,\n      \"it is written in opset $1 of $2, and the page's runtime knows opsets up to $3; export it with an older one, such as opset 20\"\n    ],\n    [\n      /Failed to load external data file \"+([^\"]*)\"/,\n      'its weights are in another file, \"$1\"; save it as one file: onnx.save(onnx.load(\"model.onnx\"), \"one_file.onnx\")'\n    ],\n    [\n      /Fatal error: ([\\w.]+):(\\w+)\\(.*?is not a registered function/,\n      \"it uses $2, an operator of $1, which the page's runtime does not have; export it with ONNX's own operators only\"\n    ],\n    [\n      /No Op registered for (\\w+) with domain_version of (\\d+)/,\n      \"it uses the operator $1, which ONNX's opset $2 does not have; export it with another opset, or without this operator\"\n    ],\n    [\n      /No opset import for domain '([^']*)'/,\n      'it uses operators of \"$1\" without telling their version; export it again'\n    ],\n    [\n      /Could not find an implementation for (\\w+)\\((\\d+)\\)/,\n      \"the page's runtime does not compute the operator $1 of opset $2 for these types; export it as float32, with opset 20\"\n    ]\n  ];\n  function withoutPlaces(message) {\n    return message.replace(/.*?ERROR_MESSAGE:\\s*/s, \"\").replace(/(?:[A-Za-z]:)?[\\\\/]\\S*\\.(?:cc|h|cpp):\\d+[^\\n]*?\\)(?=\\s)\\s*/g, \"\").replace(/\\[ONNXRuntimeError\\]\\s*:\\s*\\d+\\s*:\\s*\\w+\\s*:\\s*/g, \"\").trim();\n  }\n  function refusal(message) {\n    for (const [pattern, meaning] of MEANINGS) {\n      const found = message.match(pattern);\n      if (found) {\n        const text = (\n          /** @type {string} */\n          meaning.replace(/\\$(\\d)/g, (_2, part) => found[part])\n        );\n        return failure(\"model-refused\", text);\n      }\n    }\n    if (/protobuf parsing failed|No graph was found/i.test(message)) {\n      return failure(\"model-broken\", \"this is not a complete ONNX file\");\n    }\n    if (/bad_alloc|out of memory|allocation failed|memory access out of bounds/i.test(message)) {\n      return failure(\n        \"model-refused\",\n        \"it needs more memory than the browser gives; export it for smaller pictures, or take a smaller network\"\n      );\n    }\n    return failure(\"model-refused\", `the page's runtime says: ${withoutPlaces(message)}`);\n  }\n\n  // page/src/augment.js\n  var GREY = \"rgb(114, 114, 114)\";\n  var FRAME_SIDES = 4;\n  var NEARER = 1.6;\n  var FARTHER = 1.8;\n  var SHIFT = 0.25;\n  var TURN = 0.3;\n  var WIDER = 0.15;\n  var VISIBLE = 0.35;\n  var MIN_SIDE = 2;\n  var MAX_PASTED = 2;\n  var PASTED_SIZE = 0.5;\n  var HUE = 0.1;\n  var SATURATION = 0.6;\n  var BRIGHTNESS = 0.4;\n  function createRandom(seed) {\n    let state = seed;\n    return () => {\n      state = state + 1831565813 | 0;\n      let t = Math.imul(state ^ state >>> 15, 1 | state);\n      t = t + Math.imul(t ^ t >>> 7, 61 | t) ^ t;\n      return ((t ^ t >>> 14) >>> 0) / 4294967296;\n    };\n  }\n  function surface(width, height) {\n    const canvas2 = new OffscreenCanvas(width, height);\n    const options = { alpha: false, willReadFrequently: true };\n    const context2 = (\n      /** @type {OffscreenCanvasRenderingContext2D} */\n      canvas2.getContext(\"2d\", options)\n    );\n    context2.fillStyle = GREY;\n    context2.fillRect(0, 0, width, height);\n    context2.imageSmoothingQuality = \"high\";\n    return { canvas: canvas2, context: context2 };\n  }\n  function reduce({ bitmap, boxes }, rows, size) {\n    const ratio = Math.min(1, FRAME_SIDES * size / Math.max(bitmap.width, bitmap.height));\n    const width = Math.max(Math.round(bitmap.width * ratio), 1);\n    const height = Math.max(Math.round(bitmap.height * ratio), 1);\n    const { canvas: canvas2, context: context2 } = surface(width, height);\n    context2.drawImage(bitmap, 0, 0, width, height);\n    const scaled = boxes.map(({ x1, y1, x2, y2, label }) => ({\n      x1: x1 * width / bitmap.width,\n      y1: y1 * height / bitmap.height,\n      x2: x2 * width / bitmap.width,\n      y2: y2 * height / bitmap.height,\n      row: rows.indexOf(label)\n    }));\n    return { canvas: canvas2, width, height, boxes: scaled };\n  }\n  function recolour(planes, random) {\n    const span = (reach) => (2 * random() - 1) * reach;\n    const turn = 2 * Math.PI * span(HUE);\n    const saturation = 1 + span(SATURATION);\n    const brightness = 1 + span(BRIGHTNESS);\n    const c = Math.cos(turn) * saturation;\n    const s = Math.sin(turn) * saturation;\n    const length = planes.length / 3;\n    for (let at2 = 0; at2 < length; at2++) {\n      const [r, g, b] = [planes[at2], planes[at2 + length], planes[at2 + 2 * length]];\n      const y = 0.299 * r + 0.587 * g + 0.114 * b;\n      const i = 0.596 * r - 0.274 * g - 0.322 * b;\n      const q = 0.211 * r - 0.523 * g + 0.312 * b;\n      const [i2, q2] = [c * i - s * q, s * i + c * q];\n      const mixed = [\n        y + 0.956 * i2 + 0.621 * q2,\n        y - 0.272 * i2 - 0.647 * q2,\n        y - 1.106 * i2 + 1.703 * q2\n      ];\n      for (let plane = 0; plane < 3; plane++) {\n        planes[at2 + plane * length] = Math.min(Math.max(mixed[plane] * brightness, 0), 1);\n      }\n    }\n  }\n  var AROUND = [-1, 0, 1].flatMap((column) => [-1, 0, 1].map((row) => [column, row]));\n  AROUND.splice(4, 1);\n  var overlap2 = (a, b) => a.x1 < b.x2 && b.x1 < a.x2 && a.y1 < b.y2 && b.y1 < a.y2;\n  function createAugmenter({ examples, labels, size, maxBoxes, random }) {\n    const frames = examples.map((example) => reduce(example, labels, size));\n    const objects = frames.flatMap((frame) => frame.boxes.map((box) => ({ frame, box })));\n    const letterbox = createLetterbox(size);\n    const span = (reach) => (2 * random() - 1) * reach;\n    const pick = (list) => list[Math.floor(random() * list.length)];\n    let waiting = [];\n    function nextFrame() {\n      if (!waiting.length) {\n        waiting = [...frames];\n        for (let k = waiting.length - 1; k > 0; k--) {\n          const other = Math.floor(random() * (k + 1));\n          [waiting[k], waiting[other]] = [waiting[other], waiting[k]];\n        }\n      }\n      return (\n        /** @type {typeof frames[0]} */\n        waiting.pop()\n      );\n    }\n    function planPasted(frame) {\n      const pasted = [];\n      const count = objects.length ? Math.floor(random() * (MAX_PASTED + 1)) : 0;\n      for (let k = 0; k < count; k++) {\n        const source = pick(objects);\n        const gain = Math.exp(span(PASTED_SIZE));\n        const width = (source.box.x2 - source.box.x1) * gain;\n        const height = (source.box.y2 - source.box.y1) * gain;\n        const x1 = random() * (frame.width - width);\n        const y1 = random() * (frame.height - height);\n        const mirrored = random() < 0.5;\n        const box = { x1, y1, x2: x1 + width, y2: y1 + height, row: source.box.row };\n        const free = ![...frame.boxes, ...pasted.map((p) => p.box)].some((b) => overlap2(b, box));\n        if (x1 >= 0 && y1 >= 0 && free) pasted.push({ source, box, mirrored });\n      }\n      return pasted;\n    }\n    function paste(context2, { source, box, mirrored }) {\n      const { x1, y1, x2, y2 } = source.box;\n      context2.save();\n      context2.translate(mirrored ? box.x2 : box.x1, box.y1);\n      if (mirrored) context2.scale(-1, 1);\n      const area = [0, 0, box.x2 - box.x1, box.y2 - box.y1];\n      context2.drawImage(source.frame.canvas, x1, y1, x2 - x1, y2 - y1, ...area);\n      context2.restore();\n    }\n    function planAround({ width, height }) {\n      return AROUND.map(([column, row]) => {\n        const frame = pick(frames);\n        const scale = Math.min(width / frame.width, height / frame.height);\n        const x = column < 0 ? -scale * frame.width : column * width;\n        const y = row < 0 ? -scale * frame.height : row * height;\n        const boxes = frame.boxes.map(({ x1, y1, x2, y2, row: own }) => {\n          return {\n            x1: x + scale * x1,\n            y1: y + scale * y1,\n            x2: x + scale * x2,\n            y2: y + scale * y2,\n            row: own\n          };\n        });\n        return { canvas: frame.canvas, x, y, scale, boxes };\n      });\n    }\n    function planWindow({ width, height }) {\n      const zoom = Math.exp(-Math.log(NEARER) + random() * Math.log(NEARER * FARTHER));\n      const wider = Math.exp(span(WIDER));\n      const angle = span(TURN);\n      const [cos, sin] = [Math.cos(angle), Math.sin(angle)];\n      return {\n        x: width * (0.5 + span(SHIFT)),\n        y: height * (0.5 + span(SHIFT)),\n        width: Math.max(Math.round(width * zoom), 8),\n        height: Math.max(Math.round(height * zoom), 8),\n        turn: [cos * wider, sin * wider, -sin / wider, cos / wider],\n        mirrored: random() < 0.5\n      };\n    }\n    function open(window) {\n      const { context: context2 } = surface(window.width, window.height);\n      context2.translate(window.width / 2, window.height / 2);\n      if (window.mirrored) context2.scale(-1, 1);\n      const [a, b, c, d] = window.turn;\n      context2.transform(a, b, c, d, 0, 0);\n      context2.translate(-window.x, -window.y);\n      return context2;\n    }\n    function move(box, window, geometry) {\n      const [a, b, c, d] = window.turn;\n      const [x, y] = [(box.x1 + box.x2) / 2 - window.x, (box.y1 + box.y2) / 2 - window.y];\n      const [halfWidth, halfHeight] = [(box.x2 - box.x1) / 2, (box.y2 - box.y1) / 2];\n      const reach = [\n        Math.hypot(a * halfWidth, c * halfHeight),\n        Math.hypot(b * halfWidth, d * halfHeight)\n      ];\n      const centre = [(window.mirrored ? -1 : 1) * (a * x + c * y), b * x + d * y];\n      const within = [window.width, window.height].map(\n        (side, axis) => [-1, 1].map((sign) => {\n          return Math.min(Math.max(side / 2 + centre[axis] + sign * reach[axis], 0), side);\n        })\n      );\n      const area = within.reduce((product, [start3, end]) => product * (end - start3), 1);\n      if (area < VISIBLE * 4 * reach[0] * reach[1]) return null;\n      const scaleX = geometry.resizedWidth / window.width;\n      const scaleY = geometry.resizedHeight / window.height;\n      const [left, right] = within[0].map((at2) => at2 * scaleX + geometry.left);\n      const [top, bottom] = within[1].map((at2) => at2 * scaleY + geometry.top);\n      if (Math.min(right - left, bottom - top) < MIN_SIDE) return null;\n      return [(left + right) / 2, (top + bottom) / 2, right - left, bottom - top].map(\n        (v2) => v2 / size\n      );\n    }\n    return () => {\n      const frame = nextFrame();\n      const pasted = planPasted(frame);\n      const window = planWindow(frame);\n      const around = planAround(frame);\n      const context2 = open(window);\n      for (const { canvas: canvas2, x, y, scale } of around) {\n        context2.drawImage(canvas2, x, y, scale * canvas2.width, scale * canvas2.height);\n      }\n      context2.drawImage(frame.canvas, 0, 0);\n      for (const one of pasted) paste(context2, one);\n      const { data } = context2.getImageData(0, 0, window.width, window.height);\n      const input = new Float32Array(3 * size * size);\n      const geometry = letterbox.run(data, window.width, window.height, input);\n      recolour(input, random);\n      const boxes = [];\n      const rows = [];\n      const all = [\n        frame.boxes,\n        pasted.map((p) => p.box),\n        ...around.map((other) => other.boxes)\n      ].flat();\n      for (const box of all) {\n        const moved = move(box, window, geometry);\n        if (!moved || boxes.length === maxBoxes) continue;\n        boxes.push(moved);\n        rows.push(box.row);\n      }\n      return { input, boxes, rows };\n    };\n  }\n\n  // page/src/metadata.js\n  function* fieldsOf(bytes) {\n    let at2 = 0;\n    const broken = failure(\"model-broken\", \"this is not a complete ONNX file\");\n    const readNumber = () => {\n      let value = 0;\n      for (let factor = 1; at2 < bytes.length; factor *= 128) {\n        const byte = bytes[at2++];\n        value += (byte & 127) * factor;\n        if (byte < 128) return value;\n      }\n      throw broken;\n    };\n    while (at2 < bytes.length) {\n      const start3 = at2;\n      const key = readNumber();\n      const kind = key % 8;\n      let length = { 1: 8, 5: 4 }[kind] ?? 0;\n      if (kind === 0) readNumber();\n      if (kind === 2) length = readNumber();\n      if (![0, 1, 2, 5].includes(kind) || at2 + length > bytes.length) throw broken;\n      const content = bytes.subarray(at2, at2 + length);\n      at2 += length;\n      yield { field: Math.floor(key / 8), content, whole: bytes.subarray(start3, at2) };\n    }\n  }\n\n  // page/src/merging.js\n  var GRAPH = 7;\n  var [NODE, INITIALIZER, OUTPUT] = [1, 5, 12];\n  var FLOAT = 1;\n  var encoder = new TextEncoder();\n  function join(parts) {\n    const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));\n    let at2 = 0;\n    for (const part of parts) {\n      joined.set(part, at2);\n      at2 += part.length;\n    }\n    return joined;\n  }\n  function writeNumber(value) {\n    const bytes = [];\n    let rest = value;\n    for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push(rest % 128 + 128);\n    return Uint8Array.from([...bytes, rest]);\n  }\n  function field(id, content) {\n    if (typeof content === \"number\") return join([writeNumber(id * 8), writeNumber(content)]);\n    const bytes = typeof content === \"string\" ? encoder.encode(content) : content;\n    return join([writeNumber(id * 8 + 2), writeNumber(bytes.length), bytes]);\n  }\n  function valueInfo(name) {\n    return join([field(1, name), field(2, field(1, field(1, FLOAT)))]);\n  }\n  function graphOf(model) {\n    return join([...fieldsOf(model)].filter((f) => f.field === GRAPH).map((f) => f.content));\n  }\n  function withGraph(model, graph) {\n    const others = [...fieldsOf(model)].filter((f) => f.field !== GRAPH).map((f) => f.whole);\n    return join([...others, field(GRAPH, graph)]);\n  }\n  function withOutputs(model, names) {\n    const outputs = names.map((name) => field(OUTPUT, valueInfo(name)));\n    return withGraph(model, join([graphOf(model), ...outputs]));\n  }\n\n  // page/src/teaching.js\n  var PROVIDERS = { executionProviders: [\"wasm\"] };\n  var NEW_PICTURES = 3;\n  var KEPT_BYTES2 = 128e6;\n  var WARM_UP = 20;\n  var LAST_RATE = 0.02;\n  function rateOf(step, steps, highest) {\n    const cosine = (1 + Math.cos(Math.PI * step / steps)) / 2;\n    const rise = Math.min((step + 1) / WARM_UP, 1);\n    return highest * rise * (LAST_RATE + (1 - LAST_RATE) * cosine);\n  }\n  function openDetector(model, info, state) {\n    const weights = state.flatMap(({ tensor }) => tensor ?? []);\n    const { found, ...maps } = info.tensors;\n    const names = [.../* @__PURE__ */ new Set([...Object.values(maps), ...weights])];\n    return Zr.create(withOutputs(model, names), PROVIDERS);\n  }\n  async function firstState(detector, info, state) {\n    const side = info.size;\n    const grey = new V(\"float32\", new Float32Array(3 * side * side), [1, 3, side, side]);\n    const wanted = [...new Set(state.flatMap(({ tensor }) => tensor ?? []))];\n    const values = await detector.run({ [info.input]: grey }, wanted);\n    const entries = state.map(({ name, shape, dtype, value, tensor }) => {\n      if (tensor !== void 0) return [name, values[tensor]];\n      const kind = dtype === \"int32\" ? Int32Array : Float32Array;\n      const length = shape.reduce((product, side2) => product * side2, 1);\n      return [name, new V(dtype, new kind(length).fill(value), shape)];\n    });\n    return Object.fromEntries(entries);\n  }\n  async function createLesson({ model, step, info, part, steps, seed, examples, labels }) {\n    const { state: stateInfo, rate } = info.parts[part];\n    const random = createRandom(seed);\n    const { size, boxes: maxBoxes } = info;\n    const draw = createAugmenter({ examples, labels, size, maxBoxes, random });\n    const detector = await openDetector(model, info, stateInfo);\n    const session = await Zr.create(step, PROVIDERS);\n    let state = await firstState(detector, info, stateInfo);\n    const maps = Object.entries(info.tensors).filter(([name]) => session.inputNames.includes(name));\n    const pool = [];\n    let drawn = 0;\n    let taken = 0;\n    async function study() {\n      const { input, boxes, rows } = draw();\n      const tensor = new V(\"float32\", input, [1, 3, size, size]);\n      const results = await detector.run(\n        { [info.input]: tensor },\n        maps.map(([, name]) => name)\n      );\n      const own = Object.fromEntries(maps.map(([name, source]) => [name, results[source]]));\n      const bytes = Object.values(own).reduce((sum, map) => sum + 4 * map.size, 0);\n      const picture = { maps: own, boxes, rows };\n      pool[drawn % Math.max(Math.floor(KEPT_BYTES2 / bytes), info.batch)] = picture;\n      drawn += 1;\n      return picture;\n    }\n    async function nextBatch() {\n      const pictures = [];\n      const fresh = pool.length < info.batch ? info.batch : NEW_PICTURES;\n      for (let k = 0; k < fresh; k++) pictures.push(await study());\n      while (pictures.length < info.batch) pictures.push(pool[Math.floor(random() * pool.length)]);\n      const feeds = {};\n      for (const [name] of maps) {\n        const { size: length, dims } = pictures[0].maps[name];\n        const joined = new Float32Array(info.batch * length);\n        pictures.forEach((picture, k) => {\n          joined.set(\n            /** @type {Float32Array} */\n            picture.maps[name].data,\n            k * length\n          );\n        });\n        feeds[name] = new V(\"float32\", joined, [info.batch, ...dims.slice(1)]);\n      }\n      const boxes = new Float32Array(info.batch * maxBoxes * 4);\n      const classes = new Int32Array(info.batch * maxBoxes);\n      pictures.forEach((picture, k) => {\n        boxes.set(picture.boxes.flat(), k * maxBoxes * 4);\n        classes.set(picture.rows, k * maxBoxes);\n      });\n      const counts = Int32Array.from(pictures, ({ rows }) => rows.length);\n      const highest = Float32Array.of(rateOf(taken, steps, rate));\n      feeds.boxes = new V(\"float32\", boxes, [info.batch, maxBoxes, 4]);\n      feeds.classes = new V(\"int32\", classes, [info.batch, maxBoxes]);\n      feeds.num_boxes = new V(\"int32\", counts, [info.batch]);\n      feeds.rate = new V(\"float32\", highest, []);\n      return feeds;\n    }\n    async function learn(feeds) {\n      const results = await session.run({ ...feeds, ...state });\n      const loss = Number(results.loss.data[0]);\n      if (!Number.isFinite(loss)) {\n        throw failure(\"teach-failed\", \"the loss is not a number any more; mark the objects anew\");\n      }\n      state = Object.fromEntries(stateInfo.map(({ name }) => [name, results[`next/${name}`]]));\n      taken += 1;\n      return loss;\n    }\n    function weights() {\n      const own = stateInfo.filter(({ name }) => /\\.(weight|bias)$/.test(name));\n      return own.map(({ name }) => {\n        const { dims, data } = state[name];\n        return { name, dims: [...dims], data: Float32Array.from(\n          /** @type {any} */\n          data\n        ) };\n      });\n    }\n    async function end() {\n      await session.release();\n      await detector.release();\n    }\n    return { nextBatch, learn, weights, end };\n  }\n  var lesson = null;\n  async function endLesson() {\n    const ended = lesson;\n    lesson = null;\n    await ended?.end();\n  }\n  var lessonTasks = {\n    async \"teach-begin\"(message) {\n      await endLesson();\n      try {\n        lesson = await createLesson(message);\n      } finally {\n        for (const { bitmap } of message.examples) bitmap.close();\n      }\n      return {};\n    },\n    async \"teach-step\"() {\n      if (!lesson) throw failure(\"cancelled\", \"the lesson was ended\");\n      return { loss: await lesson.learn(await lesson.nextBatch()) };\n    },\n    async \"teach-end\"() {\n      if (!lesson) throw failure(\"cancelled\", \"the lesson was ended\");\n      const weights = lesson.weights();\n      await endLesson();\n      return { weights };\n    }\n  };\n\n  // node_modules/zstddec/dist/zstddec.mjs\n  var init;\n  var instance;\n  var heap;\n  var IMPORT_OBJECT = { env: { emscripten_notify_memory_growth: (_2) => {\n    heap = new Uint8Array(instance.exports.memory.buffer);\n  } } };\n  var ZSTDDecoder = class {\n    init() {\n      if (init) return init;\n      if (typeof fetch !== \"undefined\") init = fetch(`data:application/wasm;base64,${wasm}`).then((response) => response.arrayBuffer()).then((arrayBuffer) => WebAssembly.instantiate(arrayBuffer, IMPORT_OBJECT)).then(this._init);\n      else init = WebAssembly.instantiate(Buffer.from(wasm, \"base64\"), IMPORT_OBJECT).then(this._init);\n      return init;\n    }\n    _init(result) {\n      instance = result.instance;\n      IMPORT_OBJECT.env.emscripten_notify_memory_growth(0);\n    }\n    decode(array, uncompressedSize = 0) {\n      if (!instance) throw new Error(\"ZSTDDecoder: Await .init() before decoding.\");\n      const compressedSize = array.byteLength;\n      const compressedPtr = instance.exports.malloc(compressedSize);\n      heap.set(array, compressedPtr);\n      uncompressedSize = uncompressedSize || Number(instance.exports.ZSTD_findDecompressedSize(compressedPtr, compressedSize));\n      const uncompressedPtr = instance.exports.malloc(uncompressedSize);\n      const actualSize = instance.exports.ZSTD_decompress(uncompressedPtr, uncompressedSize, compressedPtr, compressedSize);\n      const dec = heap.slice(uncompressedPtr, uncompressedPtr + actualSize);\n      instance.exports.free(compressedPtr);\n      instance.exports.free(uncompressedPtr);\n      return dec;\n    }\n  };\n  var wasm = \"AGFzbQEAAAABoAEUYAF/AGADf39/AGACf38AYAF/AX9gBX9/f39/AX9gA39/fwF/YAR/f39/AX9gAn9/AX9gAAF/YAd/f39/f39/AX9gB39/f39/f38AYAR/f39/AX5gAn9/AX5gBn9/f39/fwBgDn9/f39/f39/f39/f39/AX9gCH9/f39/f39/AX9gCX9/f39/f39/fwF/YAN+f38BfmAFf39/f38AYAAAAicBA2Vudh9lbXNjcmlwdGVuX25vdGlmeV9tZW1vcnlfZ3Jvd3RoAAADJyYDAAMACAQJBQEHBwADBgoLBAQDBAEABgUMBQ0OAQEBDxAREgYAEwQFAXABAgIFBwEBggKAgAIGCAF/AUGgnwQLB9MBCgZtZW1vcnkCAAxaU1REX2lzRXJyb3IADRlaU1REX2ZpbmREZWNvbXByZXNzZWRTaXplABkPWlNURF9kZWNvbXByZXNzACQGbWFsbG9jAAEEZnJlZQACGV9faW5kaXJlY3RfZnVuY3Rpb25fdGFibGUBABlfZW1zY3JpcHRlbl9zdGFja19yZXN0b3JlAAQcZW1zY3JpcHRlbl9zdGFja19nZXRfY3VycmVudAAFIl9fY3hhX2luY3JlbWVudF9leGNlcHRpb25fcmVmY291bnQAJQkHAQBBAQsBJgwBCgqtkgMm1ScBC38jAEEQayIKJAACQAJAAkACQAJAAkACQAJAAkACQCAAQfQBTQRAQagbKAIAIgRBECAAQQtqQfgDcSAAQQtJGyIGQQN2IgB2IgFBA3EEQAJAIAFBf3NBAXEgAGoiAkEDdCIBQdAbaiIAIAFB2BtqKAIAIgEoAggiBUYEQEGoGyAEQX4gAndxNgIADAELIAUgADYCDCAAIAU2AggLIAFBCGohACABIAJBA3QiAkEDcjYCBCABIAJqIgEgASgCBEEBcjYCBAwLCyAGQbAbKAIAIghNDQEgAQRAAkBBAiAAdCICQQAgAmtyIAEgAHRxaCIBQQN0IgBB0BtqIgIgAEHYG2ooAgAiACgCCCIFRgRAQagbIARBfiABd3EiBDYCAAwBCyAFIAI2AgwgAiAFNgIICyAAIAZBA3I2AgQgACAGaiIHIAFBA3QiASAGayIFQQFyNgIEIAAgAWogBTYCACAIBEAgCEF4cUHQG2ohAUG8GygCACECAn8gBEEBIAhBA3Z0IgNxRQRAQagbIAMgBHI2AgAgAQwBCyABKAIICyEDIAEgAjYCCCADIAI2AgwgAiABNgIMIAIgAzYCCAsgAEEIaiEAQbwbIAc2AgBBsBsgBTYCAAwLC0GsGygCACILRQ0BIAtoQQJ0QdgdaigCACICKAIEQXhxIAZrIQMgAiEBA0ACQCABKAIQIgBFBEAgASgCFCIARQ0BCyAAKAIEQXhxIAZrIgEgAyABIANJIgEbIQMgACACIAEbIQIgACEBDAELCyACKAIYIQkgAiACKAIMIgBHBEAgAigCCCIBIAA2AgwgACABNgIIDAoLIAIoAhQiAQR/IAJBFGoFIAIoAhAiAUUNAyACQRBqCyEFA0AgBSEHIAEiAEEUaiEFIAAoAhQiAQ0AIABBEGohBSAAKAIQIgENAAsgB0EANgIADAkLQX8hBiAAQb9/Sw0AIABBC2oiAUF4cSEGQawbKAIAIgdFDQBBHyEIQQAgBmshAyAAQfT//wdNBEAgBkEmIAFBCHZnIgBrdkEBcSAAQQF0a0E+aiEICwJAAkACQCAIQQJ0QdgdaigCACIBRQRAQQAhAAwBC0EAIQAgBkEZIAhBAXZrQQAgCEEfRxt0IQIDQAJAIAEoAgRBeHEgBmsiBCADTw0AIAEhBSAEIgMNAEEAIQMgASEADAMLIAAgASgCFCIEIAQgASACQR12QQRxaigCECIBRhsgACAEGyEAIAJBAXQhAiABDQALCyAAIAVyRQRAQQAhBUECIAh0IgBBACAAa3IgB3EiAEUNAyAAaEECdEHYHWooAgAhAAsgAEUNAQsDQCAAKAIEQXhxIAZrIgIgA0khASACIAMgARshAyAAIAUgARshBSAAKAIQIgEEfyABBSAAKAIUCyIADQALCyAFRQ0AIANBsBsoAgAgBmtPDQAgBSgCGCEIIAUgBSgCDCIARwRAIAUoAggiASAANgIMIAAgATYCCAwICyAFKAIUIgEEfyAFQRRqBSAFKAIQIgFFDQMgBUEQagshAgNAIAIhBCABIgBBFGohAiAAKAIUIgENACAAQRBqIQIgACgCECIBDQALIARBADYCAAwHCyAGQbAbKAIAIgVNBEBBvBsoAgAhAAJAIAUgBmsiAUEQTwRAIAAgBmoiAiABQQFyNgIEIAAgBWogATYCACAAIAZBA3I2AgQMAQsgACAFQQNyNgIEIAAgBWoiASABKAIEQQFyNgIEQQAhAkEAIQELQbAbIAE2AgBBvBsgAjYCACAAQQhqIQAMCQsgBkG0GygCACICSQRAQbQbIAIgBmsiATYCAEHAG0HAGygCACIAIAZqIgI2AgAgAiABQQFyNgIEIAAgBkEDcjYCBCAAQQhqIQAMCQtBACEAIAZBL2oiAwJ/QYAfKAIABEBBiB8oAgAMAQtBjB9CfzcCAEGEH0KAoICAgIAENwIAQYAfIApBDGpBcHFB2KrVqgVzNgIAQZQfQQA2AgBB5B5BADYCAEGAIAsiAWoiBEEAIAFrIgdxIgEgBk0NCEHgHigCACIFBEBB2B4oAgAiCCABaiIJIAhNIAUgCUlyDQkLAkBB5B4tAABBBHFFBEACQAJAAkACQEHAGygCACIFBEBB6B4hAANAIAAoAgAiCCAFTQRAIAUgCCAAKAIEakkNAwsgACgCCCIADQALC0EAEAMiAkF/Rg0DIAEhBEGEHygCACIAQQFrIgUgAnEEQCABIAJrIAIgBWpBACAAa3FqIQQLIAQgBk0NA0HgHigCACIABEBB2B4oAgAiBSAEaiIHIAVNIAAgB0lyDQQLIAQQAyIAIAJHDQEMBQsgBCACayAHcSIEEAMiAiAAKAIAIAAoAgRqRg0BIAIhAAsgAEF/Rg0BIAZBMGogBE0EQCAAIQIMBAtBiB8oAgAiAiADIARrakEAIAJrcSICEANBf0YNASACIARqIQQgACECDAMLIAJBf0cNAgtB5B5B5B4oAgBBBHI2AgALIAEQAyICQX9GQQAQAyIAQX9GciAAIAJNcg0FIAAgAmsiBCAGQShqTQ0FC0HYHkHYHigCACAEaiIANgIAQdweKAIAIABJBEBB3B4gADYCAAsCQEHAGygCACIDBEBB6B4hAANAIAIgACgCACIBIAAoAgQiBWpGDQIgACgCCCIADQALDAQLQbgbKAIAIgBBACAAIAJNG0UEQEG4GyACNgIAC0EAIQBB7B4gBDYCAEHoHiACNgIAQcgbQX82AgBBzBtBgB8oAgA2AgBB9B5BADYCAANAIABBA3QiAUHYG2ogAUHQG2oiBTYCACABQdwbaiAFNgIAIABBAWoiAEEgRw0AC0G0GyAEQShrIgBBeCACa0EHcSIBayIFNgIAQcAbIAEgAmoiATYCACABIAVBAXI2AgQgACACakEoNgIEQcQbQZAfKAIANgIADAQLIAIgA00gASADS3INAiAAKAIMQQhxDQIgACAEIAVqNgIEQcAbIANBeCADa0EHcSIAaiIBNgIAQbQbQbQbKAIAIARqIgIgAGsiADYCACABIABBAXI2AgQgAiADakEoNgIEQcQbQZAfKAIANgIADAMLQQAhAAwGC0EAIQAMBAtBuBsoAgAgAksEQEG4GyACNgIACyACIARqIQVB6B4hAAJAA0AgBSAAKAIAIgFHBEAgACgCCCIADQEMAgsLIAAtAAxBCHFFDQMLQegeIQADQAJAIAAoAgAiASADTQRAIAMgASAAKAIEaiIFSQ0BCyAAKAIIIQAMAQsLQbQbIARBKGsiAEF4IAJrQQdxIgFrIgc2AgBBwBsgASACaiIBNgIAIAEgB0EBcjYCBCAAIAJqQSg2AgRBxBtBkB8oAgA2AgAgAyAFQScgBWtBB3FqQS9rIgAgACADQRBqSRsiAUEbNgIEIAFB8B4pAgA3AhAgAUHoHikCADcCCEHwHiABQQhqNgIAQeweIAQ2AgBB6B4gAjYCAEH0HkEANgIAIAFBGGohAANAIABBBzYCBCAAQQhqIQIgAEEEaiEAIAIgBUkNAAsgASADRg0AIAEgASgCBEF+cTYCBCADIAEgA2siAkEBcjYCBCABIAI2AgACfyACQf8BTQRAIAJBeHFB0BtqIQACf0GoGygCACIBQQEgAkEDdnQiAnFFBEBBqBsgASACcjYCACAADAELIAAoAggLIQEgACADNgIIIAEgAzYCDEEMIQJBCAwBC0EfIQAgAkH///8HTQRAIAJBJiACQQh2ZyIAa3ZBAXEgAEEBdGtBPmohAAsgAyAANgIcIANCADcCECAAQQJ0QdgdaiEBAkACQEGsGygCACIFQQEgAHQiBHFFBEBBrBsgBCAFcjYCACABIAM2AgAMAQsgAkEZIABBAXZrQQAgAEEfRxt0IQAgASgCACEFA0AgBSIBKAIEQXhxIAJGDQIgAEEddiEFIABBAXQhACABIAVBBHFqIgQoAhAiBQ0ACyAEIAM2AhALIAMgATYCGEEIIQIgAyIBIQBBDAwBCyABKAIIIgAgAzYCDCABIAM2AgggAyAANgIIQQAhAEEYIQJBDAsgA2ogATYCACACIANqIAA2AgALQbQbKAIAIgAgBk0NAEG0GyAAIAZrIgE2AgBBwBtBwBsoAgAiACAGaiICNgIAIAIgAUEBcjYCBCAAIAZBA3I2AgQgAEEIaiEADAQLQaQbQTA2AgBBACEADAMLIAAgAjYCACAAIAAoAgQgBGo2AgQgAkF4IAJrQQdxaiIIIAZBA3I2AgQgAUF4IAFrQQdxaiIEIAYgCGoiA2shBwJAQcAbKAIAIARGBEBBwBsgAzYCAEG0G0G0GygCACAHaiIANgIAIAMgAEEBcjYCBAwBC0G8GygCACAERgRAQbwbIAM2AgBBsBtBsBsoAgAgB2oiADYCACADIABBAXI2AgQgACADaiAANgIADAELIAQoAgQiAEEDcUEBRgRAIABBeHEhCSAEKAIMIQICQCAAQf8BTQRAIAQoAggiASACRgRAQagbQagbKAIAQX4gAEEDdndxNgIADAILIAEgAjYCDCACIAE2AggMAQsgBCgCGCEGAkAgAiAERwRAIAQoAggiACACNgIMIAIgADYCCAwBCwJAIAQoAhQiAAR/IARBFGoFIAQoAhAiAEUNASAEQRBqCyEBA0AgASEFIAAiAkEUaiEBIAAoAhQiAA0AIAJBEGohASACKAIQIgANAAsgBUEANgIADAELQQAhAgsgBkUNAAJAIAQoAhwiAEECdEHYHWoiASgCACAERgRAIAEgAjYCACACDQFBrBtBrBsoAgBBfiAAd3E2AgAMAgsCQCAEIAYoAhBGBEAgBiACNgIQDAELIAYgAjYCFAsgAkUNAQsgAiAGNgIYIAQoAhAiAARAIAIgADYCECAAIAI2AhgLIAQoAhQiAEUNACACIAA2AhQgACACNgIYCyAHIAlqIQcgBCAJaiIEKAIEIQALIAQgAEF+cTYCBCADIAdBAXI2AgQgAyAHaiAHNgIAIAdB/wFNBEAgB0F4cUHQG2ohAAJ/QagbKAIAIgFBASAHQQN2dCICcUUEQEGoGyABIAJyNgIAIAAMAQsgACgCCAshASAAIAM2AgggASADNgIMIAMgADYCDCADIAE2AggMAQtBHyECIAdB////B00EQCAHQSYgB0EIdmciAGt2QQFxIABBAXRrQT5qIQILIAMgAjYCHCADQgA3AhAgAkECdEHYHWohAAJAAkBBrBsoAgAiAUEBIAJ0IgVxRQRAQawbIAEgBXI2AgAgACADNgIADAELIAdBGSACQQF2a0EAIAJBH0cbdCECIAAoAgAhAQNAIAEiACgCBEF4cSAHRg0CIAJBHXYhASACQQF0IQIgACABQQRxaiIFKAIQIgENAAsgBSADNgIQCyADIAA2AhggAyADNgIMIAMgAzYCCAwBCyAAKAIIIgEgAzYCDCAAIAM2AgggA0EANgIYIAMgADYCDCADIAE2AggLIAhBCGohAAwCCwJAIAhFDQACQCAFKAIcIgFBAnRB2B1qIgIoAgAgBUYEQCACIAA2AgAgAA0BQawbIAdBfiABd3EiBzYCAAwCCwJAIAUgCCgCEEYEQCAIIAA2AhAMAQsgCCAANgIUCyAARQ0BCyAAIAg2AhggBSgCECIBBEAgACABNgIQIAEgADYCGAsgBSgCFCIBRQ0AIAAgATYCFCABIAA2AhgLAkAgA0EPTQRAIAUgAyAGaiIAQQNyNgIEIAAgBWoiACAAKAIEQQFyNgIEDAELIAUgBkEDcjYCBCAFIAZqIgQgA0EBcjYCBCADIARqIAM2AgAgA0H/AU0EQCADQXhxQdAbaiEAAn9BqBsoAgAiAUEBIANBA3Z0IgJxRQRAQagbIAEgAnI2AgAgAAwBCyAAKAIICyEBIAAgBDYCCCABIAQ2AgwgBCAANgIMIAQgATYCCAwBC0EfIQAgA0H///8HTQRAIANBJiADQQh2ZyIAa3ZBAXEgAEEBdGtBPmohAAsgBCAANgIcIARCADcCECAAQQJ0QdgdaiEBAkACQCAHQQEgAHQiAnFFBEBBrBsgAiAHcjYCACABIAQ2AgAgBCABNgIYDAELIANBGSAAQQF2a0EAIABBH0cbdCEAIAEoAgAhAQNAIAEiAigCBEF4cSADRg0CIABBHXYhASAAQQF0IQAgAiABQQRxaiIHKAIQIgENAAsgByAENgIQIAQgAjYCGAsgBCAENgIMIAQgBDYCCAwBCyACKAIIIgAgBDYCDCACIAQ2AgggBEEANgIYIAQgAjYCDCAEIAA2AggLIAVBCGohAAwBCwJAIAlFDQACQCACKAIcIgFBAnRB2B1qIgUoAgAgAkYEQCAFIAA2AgAgAA0BQawbIAtBfiABd3E2AgAMAgsCQCACIAkoAhBGBEAgCSAANgIQDAELIAkgADYCFAsgAEUNAQsgACAJNgIYIAIoAhAiAQRAIAAgATYCECABIAA2AhgLIAIoAhQiAUUNACAAIAE2AhQgASAANgIYCwJAIANBD00EQCACIAMgBmoiAEEDcjYCBCAAIAJqIgAgACgCBEEBcjYCBAwBCyACIAZBA3I2AgQgAiAGaiIFIANBAXI2AgQgAyAFaiADNgIAIAgEQCAIQXhxQdAbaiEAQbwbKAIAIQECf0EBIAhBA3Z0IgcgBHFFBEBBqBsgBCAHcjYCACAADAELIAAoAggLIQQgACABNgIIIAQgATYCDCABIAA2AgwgASAENgIIC0G8GyAFNgIAQbAbIAM2AgALIAJBCGohAAsgCkEQaiQAIAAL3AsBCH8CQCAARQ0AIABBCGsiAyAAQQRrKAIAIgJBeHEiAGohBQJAIAJBAXENACACQQJxRQ0BIAMgAygCACIEayIDQbgbKAIASQ0BIAAgBGohAAJAAkACQEG8GygCACADRwRAIAMoAgwhASAEQf8BTQRAIAEgAygCCCICRw0CQagbQagbKAIAQX4gBEEDdndxNgIADAULIAMoAhghByABIANHBEAgAygCCCICIAE2AgwgASACNgIIDAQLIAMoAhQiAgR/IANBFGoFIAMoAhAiAkUNAyADQRBqCyEEA0AgBCEGIAIiAUEUaiEEIAEoAhQiAg0AIAFBEGohBCABKAIQIgINAAsgBkEANgIADAMLIAUoAgQiAkEDcUEDRw0DQbAbIAA2AgAgBSACQX5xNgIEIAMgAEEBcjYCBCAFIAA2AgAPCyACIAE2AgwgASACNgIIDAILQQAhAQsgB0UNAAJAIAMoAhwiBEECdEHYHWoiAigCACADRgRAIAIgATYCACABDQFBrBtBrBsoAgBBfiAEd3E2AgAMAgsCQCADIAcoAhBGBEAgByABNgIQDAELIAcgATYCFAsgAUUNAQsgASAHNgIYIAMoAhAiAgRAIAEgAjYCECACIAE2AhgLIAMoAhQiAkUNACABIAI2AhQgAiABNgIYCyADIAVPDQAgBSgCBCIEQQFxRQ0AAkACQAJAAkAgBEECcUUEQEHAGygCACAFRgRAQcAbIAM2AgBBtBtBtBsoAgAgAGoiADYCACADIABBAXI2AgQgA0G8GygCAEcNBkGwG0EANgIAQbwbQQA2AgAPC0G8GygCACIHIAVGBEBBvBsgAzYCAEGwG0GwGygCACAAaiIANgIAIAMgAEEBcjYCBCAAIANqIAA2AgAPCyAEQXhxIABqIQAgBSgCDCEBIARB/wFNBEAgBSgCCCICIAFGBEBBqBtBqBsoAgBBfiAEQQN2d3E2AgAMBQsgAiABNgIMIAEgAjYCCAwECyAFKAIYIQggASAFRwRAIAUoAggiAiABNgIMIAEgAjYCCAwDCyAFKAIUIgIEfyAFQRRqBSAFKAIQIgJFDQIgBUEQagshBANAIAQhBiACIgFBFGohBCABKAIUIgINACABQRBqIQQgASgCECICDQALIAZBADYCAAwCCyAFIARBfnE2AgQgAyAAQQFyNgIEIAAgA2ogADYCAAwDC0EAIQELIAhFDQACQCAFKAIcIgRBAnRB2B1qIgIoAgAgBUYEQCACIAE2AgAgAQ0BQawbQawbKAIAQX4gBHdxNgIADAILAkAgBSAIKAIQRgRAIAggATYCEAwBCyAIIAE2AhQLIAFFDQELIAEgCDYCGCAFKAIQIgIEQCABIAI2AhAgAiABNgIYCyAFKAIUIgJFDQAgASACNgIUIAIgATYCGAsgAyAAQQFyNgIEIAAgA2ogADYCACADIAdHDQBBsBsgADYCAA8LIABB/wFNBEAgAEF4cUHQG2ohAgJ/QagbKAIAIgRBASAAQQN2dCIAcUUEQEGoGyAAIARyNgIAIAIMAQsgAigCCAshACACIAM2AgggACADNgIMIAMgAjYCDCADIAA2AggPC0EfIQEgAEH///8HTQRAIABBJiAAQQh2ZyICa3ZBAXEgAkEBdGtBPmohAQsgAyABNgIcIANCADcCECABQQJ0QdgdaiEEAn8CQAJ/QawbKAIAIgZBASABdCICcUUEQEGsGyACIAZyNgIAIAQgAzYCAEEYIQFBCAwBCyAAQRkgAUEBdmtBACABQR9HG3QhASAEKAIAIQQDQCAEIgIoAgRBeHEgAEYNAiABQR12IQQgAUEBdCEBIAIgBEEEcWoiBigCECIEDQALIAYgAzYCEEEYIQEgAiEEQQgLIQAgAyICDAELIAIoAggiBCADNgIMIAIgAzYCCEEYIQBBCCEBQQALIQYgASADaiAENgIAIAMgAjYCDCAAIANqIAY2AgBByBtByBsoAgBBAWsiAEF/IAAbNgIACwtsAQJ/QaAbKAIAIgEgAEEHakF4cSICaiEAAkAgAkEAIAAgAU0bRQRAIAA/AEEQdE0NASAAPwBBEHRrQf//A2pBEHZAAEF/RgR/QQAFQQAQAEEBCw0BC0GkG0EwNgIAQX8PC0GgGyAANgIAIAELBgAgACQACwQAIwALuQUBDH8jAEEQayIMJAACQCAEQQdNBEAgDEIANwMIIAQEQCAMQQhqIAMgBPwKAAALQWwgACABIAIgDEEIakEIEAYiACAAIARLGyAAIABBiX9JGyEFDAELIAEoAgBBAWoiDkEBdCIIBEAgAEEAIAj8CwALIAMoAAAiBUEPcSIHQQpLBEBBVCEFDAELIAIgB0EFajYCACADIARqIgJBBGshCCACQQdrIQ0gB0EGaiEPQQQhBiAFQQR2IQVBICAHdCIJQQFyIQpBACECQQEhByADIQQDQAJAIAdBAXFFBEADQCAFQX9zQYCAgIB4cmgiB0EYSUUEQCACQSRqIQIgBCANTQR/IARBA2oFIAQgDWtBA3QgBmpBH3EhBiAICyIEKAAAIAZ2IQUMAQsLIAYgB0EecSILakECaiEGIAdBAXZBA2wgAmogBSALdkEDcWoiAiAOTw0BAn8gBCANSyAGQQN2IARqIgUgCEtxRQRAIAZBB3EhBiAFDAELIAQgCGtBA3QgBmpBH3EhBiAICyIEKAAAIAZ2IQULIAUgCUEBa3EiByAJQQF0QQFrIgsgCmsiEEkEfyAPQQFrBSAFIAtxIgUgEEEAIAUgCU4bayEHIA8LIQUgACACQQF0aiAHQQFrIgs7AQAgAkEBaiECIAUgBmohBiAJQQEgB2sgCyAHQQBKGyAKaiIKSgRAIApBAkgNAUEgIApnIgVrIQ9BASAFQR9zdCEJCyACIA5PDQAgC0EARyEHAn8gBCANSyAGQQN1IARqIgUgCEtxRQRAIAZBB3EhBiAFDAELIAYgBCAIa0EDdGpBH3EhBiAICyIEKAAAIAZ2IQUMAQsLQWwhBSAKQQFHDQAgAiAOSwRAQVAhBQwBCyAGQSBKDQAgASACQQFrNgIAIAQgBkEHakEDdWogA2shBQsgDEEQaiQAIAULrRkCEX8BfiMAQTBrIgckAEG4fyEIAkAgBUUNACAELAAAIglB/wFxIQ0CQAJAIAlBAEgEQCANQf4Aa0EBdiIGIAVPDQMgDUH/AGsiCEH/AUsNAiAEQQFqIQRBACEFA0AgBSAITwRAIAYhDQwDBSAAIAVqIg0gBCAFQQF2aiIJLQAAQQR2OgAAIA0gCS0AAEEPcToAASAFQQJqIQUMAQsACwALIAUgDU0NAiAHQf8BNgIEIAYgB0EEaiAHQQhqIARBAWoiCiANEAYiBEGIf0sEQCAEIQgMAwtBVCEIIAcoAggiC0EGSw0CIAcoAgQiBUEBdCIMQQJqrUIBIAuthiIYQQQgC3QiCUEIaq18fEILfEL8//////////8Ag0LoAlYNAkFSIQggBUH/AUsNAkHoAiAJa60gBUEBaiIQQQF0rSAYfEIIfFQNAiANIARrIRQgBCAKaiEVIAwgBkGABGoiDCAJakEEaiIWakECaiERIAZBhARqIRcgBkGGBGohE0GAgAIgC3RBEHYhCEEAIQVBASEOQQEgC3QiCkEBayISIQQDQCAFIBBGRQRAAkAgBiAFQQF0Ig9qLwEAIglB//8DRgRAIBMgBEECdGogBToAACAEQQFrIQRBASEJDAELIA5BACAIIAnBShshDgsgDyAWaiAJOwEAIAVBAWohBQwBCwsgBiAOOwGCBCAGIAs7AYAEAkAgBCASRgRAQgAhGEEAIQlBACEIA0AgCSAQRgRAIApBA3YgCkEBdmpBA2oiBkEBdCEJQQAhBEEAIQgDQCAIIApPDQQgCCARaiEQQQAhBQNAIAVBAkZFBEAgEyAFIAZsIARqIBJxQQJ0aiAFIBBqLQAAOgAAIAVBAWohBQwBCwsgCEECaiEIIAQgCWogEnEhBAwACwAFIAYgCUEBdGouAQAhBCAIIBFqIg8gGDcAAEEIIQUDQCAEIAVMRQRAIAUgD2ogGDcAACAFQQhqIQUMAQsLIBhCgYKEiJCgwIABfCEYIAlBAWohCSAEIAhqIQgMAQsACwALIApBA3YgCkEBdmpBA2ohEUEAIQhBACEFA0AgCCAQRkUEQEEAIQkgBiAIQQF0ai4BACIPQQAgD0EAShshDwNAIAkgD0ZFBEAgEyAFQQJ0aiAIOgAAA0AgBSARaiAScSIFIARLDQALIAlBAWohCQwBCwsgCEEBaiEIDAELC0F/IQggBQ0DCyALQR9rIQhBACEFA0AgBSAKRkUEQCAWIBcgBUECdGoiBC0AAkEBdGoiBiAGLwEAIgZBAWo7AQAgBCAIIAZnaiIJOgADIAQgBiAJdCAKazsBACAFQQFqIQUMAQsLAkACQCAOQf//A3EEQCAHQRxqIgQgFSAUEAgiCEGIf0sNAiAHQRRqIAQgDBAJIAdBDGogBCAMEAkgBygCICIIQSBLDQECQCAHAn8gBygCJCIEIAcoAixPBEAgByAEIAhBA3ZrIgU2AiQgCEEHcQwBCyAEIAcoAigiBUYNASAHIAQgBCAFayAIQQN2IgYgBCAGayAFSRsiBGsiBTYCJCAIIARBA3RrCyIINgIgIAcgBSgAADYCHAtBACEFA0ACQAJAIAhBIU8EQCAHQbAaNgIkDAELIAcCfyAHKAIkIgQgBygCLE8EQCAHIAQgCEEDdmsiBDYCJEEBIQkgCEEHcQwBCyAEIAcoAigiBkYNASAHIAQgCEEDdiIJIAQgBmsgBCAJayAGTyIJGyIGayIENgIkIAggBkEDdGsLNgIgIAcgBCgAADYCHCAJRSAFQfsBS3INACAAIAVqIgggB0EUaiAHQRxqIgQQCjoAACAIIAdBDGogBBAKOgABAkAgBygCICIGQSFPBEAgB0GwGjYCJAwBCyAHKAIkIgQgBygCLE8EQCAHIAZBB3E2AiAgByAEIAZBA3ZrIgQ2AiQgByAEKAAANgIcDAMLIAQgBygCKCIJRg0AIAcgBiAEIAlrIAZBA3YiBiAEIAZrIgYgCUkbIgpBA3RrNgIgIAcgBCAKayIENgIkIAcgBCgAADYCHCAGIAlPDQILIAVBAnIhBQsgAEEBaiEMAn8CQANAQbp/IQggBUH9AUsNByAAIAVqIgogB0EUaiAHQRxqEAo6AAAgBSAMaiELIAcoAiAiBkEgSw0BAkAgBwJ/IAcoAiQiBCAHKAIsTwRAIAcgBCAGQQN2ayIENgIkIAZBB3EMAQsgBCAHKAIoIglGDQEgByAEIAQgCWsgBkEDdiIOIAQgDmsgCUkbIglrIgQ2AiQgBiAJQQN0aws2AiAgByAEKAAANgIcCyAFQf0BRg0HIAsgB0EMaiAHQRxqEAo6AAAgBUECaiEFIAcoAiAiBkEgTQRAIAcCfyAHKAIkIgQgBygCLE8EQCAHIAQgBkEDdmsiCDYCJCAGQQdxDAELIAQgBygCKCIIRg0CIAcgBCAEIAhrIAZBA3YiCSAEIAlrIAhJGyIEayIINgIkIAYgBEEDdGsLNgIgIAcgCCgAADYCHAwBCwsgB0GwGjYCJCAAIAVqIAdBFGogB0EcahAKOgAAIApBA2oMAQsgB0GwGjYCJCALIAdBDGogB0EcahAKOgAAIApBAmoLIABrIQgMBAsgCCAHQRRqIAdBHGoiBBAKOgACIAggB0EMaiAEEAo6AAMgBUEEaiEFIAcoAiAhCAwACwALIAdBHGoiBCAVIBQQCCIIQYh/Sw0BIAdBFGogBCAMEAkgB0EMaiAEIAwQCSAHKAIgIghBIEsNAAJAIAcCfyAHKAIkIgQgBygCLE8EQCAHIAQgCEEDdmsiBTYCJCAIQQdxDAELIAQgBygCKCIFRg0BIAcgBCAEIAVrIAhBA3YiBiAEIAZrIAVJGyIEayIFNgIkIAggBEEDdGsLIgg2AiAgByAFKAAANgIcC0EAIQUDQAJAAkAgCEEhTwRAIAdBsBo2AiQMAQsgBwJ/IAcoAiQiBCAHKAIsTwRAIAcgBCAIQQN2ayIENgIkQQEhCSAIQQdxDAELIAQgBygCKCIGRg0BIAcgBCAIQQN2IgkgBCAGayAEIAlrIAZPIgkbIgZrIgQ2AiQgCCAGQQN0aws2AiAgByAEKAAANgIcIAlFIAVB+wFLcg0AIAAgBWoiCCAHQRRqIAdBHGoiBBALOgAAIAggB0EMaiAEEAs6AAECQCAHKAIgIgZBIU8EQCAHQbAaNgIkDAELIAcoAiQiBCAHKAIsTwRAIAcgBkEHcTYCICAHIAQgBkEDdmsiBDYCJCAHIAQoAAA2AhwMAwsgBCAHKAIoIglGDQAgByAGIAQgCWsgBkEDdiIGIAQgBmsiBiAJSRsiCkEDdGs2AiAgByAEIAprIgQ2AiQgByAEKAAANgIcIAYgCU8NAgsgBUECciEFCyAAQQFqIQwCfwJAA0BBun8hCCAFQf0BSw0GIAAgBWoiCiAHQRRqIAdBHGoQCzoAACAFIAxqIQsgBygCICIGQSBLDQECQCAHAn8gBygCJCIEIAcoAixPBEAgByAEIAZBA3ZrIgQ2AiQgBkEHcQwBCyAEIAcoAigiCUYNASAHIAQgBCAJayAGQQN2Ig4gBCAOayAJSRsiCWsiBDYCJCAGIAlBA3RrCzYCICAHIAQoAAA2AhwLIAVB/QFGDQYgCyAHQQxqIAdBHGoQCzoAACAFQQJqIQUgBygCICIGQSBNBEAgBwJ/IAcoAiQiBCAHKAIsTwRAIAcgBCAGQQN2ayIINgIkIAZBB3EMAQsgBCAHKAIoIghGDQIgByAEIAQgCGsgBkEDdiIJIAQgCWsgCEkbIgRrIgg2AiQgBiAEQQN0aws2AiAgByAIKAAANgIcDAELCyAHQbAaNgIkIAAgBWogB0EUaiAHQRxqEAs6AAAgCkEDagwBCyAHQbAaNgIkIAsgB0EMaiAHQRxqEAs6AAAgCkECagsgAGshCAwDCyAIIAdBFGogB0EcaiIEEAs6AAIgCCAHQQxqIAQQCzoAAyAFQQRqIQUgBygCICEIDAALAAtBbCEICyAIQYh/Sw0CC0EAIQUgAUEAQTT8CwAgCCEGQQAhBANAIAUgBkcEQCAAIAVqIggtAAAiCUEMSw0CIAEgCUECdGoiCSAJKAIAQQFqNgIAIAVBAWohBUEBIAgtAAB0QQF1IARqIQQMAQsLQWwhCCAERQ0BIARnIgVBHHNBC0sNASADQSAgBWsiAzYCAEGAgICAeEEBIAN0IARrIgNnIgR2IANHDQEgACAGakEgIARrIgA6AAAgASAAQQJ0aiIAIAAoAgBBAWo2AgAgASgCBCIAQQJJIABBAXFyDQEgAiAGQQFqNgIAIA1BAWohCAwBC0FsIQgLIAdBMGokACAIC/UBAQF/IAJFBEAgAEIANwIAIABBADYCECAAQgA3AghBuH8PCyAAIAE2AgwgACABQQRqNgIQIAJBBE8EQCAAIAEgAmoiAUEEayIDNgIIIAAgAygAADYCACABQQFrLQAAIgEEQCAAQQggAWdBH3NrNgIEIAIPCyAAQQA2AgRBfw8LIAAgATYCCCAAIAEtAAAiAzYCAAJAAkACQCACQQJrDgIBAAILIAAgAS0AAkEQdCADciIDNgIACyAAIAEtAAFBCHQgA2o2AgALIAEgAmpBAWstAAAiAUUEQCAAQQA2AgRBbA8LIAAgAWcgAkEDdGtBCWo2AgQgAguuAQEEfyABIAIvAQAiAyABKAIEaiIENgIEIAAgA0ECdEGwGWooAgAgASgCAEEAIARrdnE2AgACQCAEQSFPBEAgAUGwGjYCCAwBCyABKAIIIgMgASgCEE8EQCABEAwMAQsgAyABKAIMIgVGDQAgASADIAMgBWsgBEEDdiIGIAMgBmsgBUkbIgNrIgU2AgggASAEIANBA3RrNgIEIAEgBSgAADYCAAsgACACQQRqNgIEC0wBBH8gACgCBCAAKAIAQQJ0aiICLQACIQMgAi8BACEEIAEgASgCBCIFIAItAAMiAmo2AgQgACAEIAEoAgAgBXRBACACa3ZqNgIAIAMLVgEEfyAAKAIEIAAoAgBBAnRqIgItAAIhAyACLwEAIQQgASACLQADIgIgASgCBGoiBTYCBCAAIAQgAkECdEGwGWooAgAgASgCAEEAIAVrdnFqNgIAIAMLLwEBfyAAIAAoAgQiAUEHcTYCBCAAIAAoAgggAUEDdmsiATYCCCAAIAEoAAA2AgALCAAgAEGIf0sLxQkCDX8CfiMAQRBrIgskACALQQA2AgwgC0EANgIIAn8CQCADQdQJaiIFIAMgC0EIaiALQQxqIAEgAiADQegAahAHIhBBiH9LDQAgCygCCCEIQQogACgCACIJQf8BcSIHIAdBCk8bQQFqIgQgCygCDCIBTwRAAkAgASAETw0AIAQgAWshAkEAIQEDQCABIAhGBEAgBCEBA0AgASACTQRAA0AgAkUNBSADIAJBAnRqQQA2AgAgAkEBayECDAALAAUgAyABQQJ0aiADIAEgAmtBAnRqKAIANgIAIAFBAWshAQwBCwALAAUgASAFaiIKIAJBACAKLQAAIgobIApqOgAAIAFBAWohAQwBCwALAAsgBCEBC0FUIAEgB0EBaksNARogAEEEaiEKIAAgCUH/gYB4cSABQRB0QYCA/AdxcjYCACABQQFqIQ4gA0E0aiEEQQAhAUEAIQIDQCACIA5GRQRAIAMgAkECdCIAaigCACEHIAAgBGogATYCACACQQFqIQIgASAHaiEBDAELCyADQdQHaiEHIAhBA2shAUEAIQADQAJAQQAhAiAAIAFOBEADQCAAIAhODQIgBCAAIAVqLQAAQQJ0aiIBIAEoAgAiAUEBajYCACABIAdqIAA6AAAgAEEBaiEADAALAAUDQCACQQRGRQRAIAQgBSAAIAJyIglqLQAAQQJ0aiIMIAwoAgAiDEEBajYCACAHIAxqIAk6AAAgAkEBaiECDAELCyAAQQRqIQAMAgsACwsgAygCACEIQQAhAEEBIQkDQCAJIA5GDQEgDiAJayEEIAMgCUECdGooAgAhBQJAAkACQAJAAkACQEEBIAl0QQF1IgxBAWsOCAABBAIEBAQDBAtBACECIAVBACAFQQBKGyEGIAAhAQNAIAIgBkYNBSAKIAFBAXRqIg0gByACIAhqai0AADoAASANIAQ6AAAgAkEBaiECIAFBAWohAQwACwALQQAhAiAFQQAgBUEAShshDSAAIQEDQCACIA1GDQQgCiABQQF0aiIGIAcgAiAIamotAAAiDzoAAyAGIAQ6AAIgBiAPOgABIAYgBDoAACACQQFqIQIgAUECaiEBDAALAAtBACECIAVBACAFQQBKGyEGIARB/wFxrSERIAAhAQNAIAIgBkYNAyAKIAFBAXRqIAcgAiAIamoxAABCCIYgEYRCgYCEgJCAwAB+NwAAIAJBAWohAiABQQRqIQEMAAsAC0EAIQIgBUEAIAVBAEobIQYgBEH/AXGtIREgACEBA0AgAiAGRg0CIAogAUEBdGoiBCAHIAIgCGpqMQAAQgiGIBGEQoGAhICQgMAAfiISNwAIIAQgEjcAACACQQFqIQIgAUEIaiEBDAALAAtBACEBIAVBACAFQQBKGyENIARB/wFxrSESIAAhBANAIAEgDUYNASAKIARBAXRqIQ8gByABIAhqajEAAEIIhiAShEKBgISAkIDAAH4hEUEAIQIDQCACIAxORQRAIA8gAkEBdGoiBiARNwAYIAYgETcAECAGIBE3AAggBiARNwAAIAJBEGohAgwBCwsgAUEBaiEBIAQgDGohBAwACwALIAlBAWohCSAFIAhqIQggBSAMbCAAaiEADAALAAsgEAshAiALQRBqJAAgAgufAwIBfgF/AkACQAJAAkACQAJAQQEgBCADa3QiCEEBaw4IAAEEAgQEBAMECyAGQRh0IANBEHRqIQMDQCABIAJGDQUgACABLQAAIgQgBEEIdCAFciAGQQFGGyADcjYBACABQQFqIQEgAEEEaiEADAALAAsgBkEYdCADQRB0aiEDA0AgASACRg0EIAAgAS0AACIEIARBCHQgBXIgBkEBRhsgA3IiBDYBBCAAIAQ2AQAgAUEBaiEBIABBCGohAAwACwALA0AgASACRg0DIAAgAS0AACADIAUgBhAQIgc3AQggACAHNwEAIAFBAWohASAAQRBqIQAMAAsACwNAIAEgAkYNAiAAIAEtAAAgAyAFIAYQECIHNwEYIAAgBzcBECAAIAc3AQggACAHNwEAIAFBAWohASAAQSBqIQAMAAsACwNAIAEgAkYNASAAIAhBAnRqIQQgAS0AACADIAUgBhAQIQcDQCAAIARGRQRAIAAgBzcBGCAAIAc3ARAgACAHNwEIIAAgBzcBACAAQSBqIQAMAQsLIAFBAWohASAEIQAMAAsACwsmACADQRh0IAFBEHRqIAAgAEEIdCACciADQQFGG3KtQoGAgIAQfgu7BgEKfyMAQSBrIgUkACAELwECIQsgBUEMaiACIAMQCCIDQYh/TQRAIARBBGohCCAAIAFqIQkCQAJAAkAgAUEETwRAIAlBA2shDUEAIAtrQR9xIQwgBSgCFCEDIAUoAhghByAFKAIcIQ4gBSgCDCEGIAUoAhAhBANAIARBIEsEQEGwGiEDDAQLAkAgAyAOTwRAIARBB3EhAiAEQQN2IQZBASEEDAELIAMgB0YNBCAEIARBA3YiAiADIAdrIAMgAmsgB08iBBsiBkEDdGshAgsgAyAGayIDKAAAIQYgBEUgACANT3INAiAIIAYgAnQgDHZBAXRqIgQtAAAhCiAAIAQtAAE6AAAgCCAGIAIgCmoiAnQgDHZBAXRqIgQtAAAhCiAAIAQtAAE6AAEgAiAKaiEEIABBAmohAAwACwALIAUoAhAiBEEhTwRAIAVBsBo2AhQMAwsgBSgCFCIDIAUoAhxPBEAgBSAEQQdxIgI2AhAgBSADIARBA3ZrIgM2AhQgBSADKAAANgIMIAIhBAwDCyADIAUoAhgiAkYNAiAFIAQgAyACayAEQQN2IgQgAyAEayACSRsiAkEDdGsiBDYCECAFIAMgAmsiAjYCFCAFIAIoAAA2AgwMAgsgAiEECyAFIAQ2AhAgBSADNgIUIAUgBjYCDAtBACALa0EfcSEHA0ACQCAEQSFPBEAgBUGwGjYCFAwBCyAFAn8gBSgCFCICIAUoAhxPBEAgBSACIARBA3ZrIgM2AhRBASEGIARBB3EMAQsgAiAFKAIYIgNGDQEgBSACIARBA3YiBiACIANrIAIgBmsgA08iBhsiAmsiAzYCFCAEIAJBA3RrCyIENgIQIAUgAygAACICNgIMIAZFIAAgCU9yDQAgCCACIAR0IAd2QQF0aiICLQABIQMgBSAEIAItAABqNgIQIAAgAzoAACAAQQFqIQAgBSgCECEEDAELCwNAIAAgCU9FBEAgCCAFKAIMIAUoAhAiAnQgB3ZBAXRqIgMtAAEhBCAFIAIgAy0AAGo2AhAgACAEOgAAIABBAWohAAwBCwtBbEFsIAEgBSgCEEEgRxsgBSgCFCAFKAIYRxshAwsgBUEgaiQAIAML/SEBGX8jAEHQAGsiBSQAQWwhBgJAIAFBBkkgA0EKSXINAAJAIAMgAi8ABCIHIAIvAAAiCiACLwACIglqakEGaiILSQ0AIAAgAUEDakECdiIMaiIIIAxqIg0gDGoiDCAAIAFqIhFLDQAgBC8BAiEOIAVBPGogAkEGaiICIAoQCCIGQYh/Sw0BIAVBKGogAiAKaiICIAkQCCIGQYh/Sw0BIAVBFGogAiAJaiICIAcQCCIGQYh/Sw0BIAUgAiAHaiADIAtrEAgiBkGIf0sNASAEQQRqIQogEUEDayESAkAgESAMa0EESQRAIAwhAyANIQIgCCEEDAELQQAgDmtBH3EhBkEAIQkgDCEDIA0hAiAIIQQDQCAJQQFxIAMgEk9yDQEgACAKIAUoAjwiCSAFKAJAIgt0IAZ2QQJ0aiIHLwEAOwAAIActAAIhECAHLQADIQ8gBCAKIAUoAigiEyAFKAIsIhR0IAZ2QQJ0aiIHLwEAOwAAIActAAIhFSAHLQADIRYgAiAKIAUoAhQiFyAFKAIYIhh0IAZ2QQJ0aiIHLwEAOwAAIActAAIhGSAHLQADIRogAyAKIAUoAgAiGyAFKAIEIhx0IAZ2QQJ0aiIHLwEAOwAAIActAAIhHSAHLQADIQcgACAPaiIPIAogCSALIBBqIgl0IAZ2QQJ0aiIALwEAOwAAIAUgCSAALQACajYCQCAALQADIQkgBCAWaiIEIAogEyAUIBVqIgt0IAZ2QQJ0aiIALwEAOwAAIAUgCyAALQACajYCLCAALQADIQsgAiAaaiICIAogFyAYIBlqIhB0IAZ2QQJ0aiIALwEAOwAAIAUgECAALQACajYCGCAALQADIRAgAyAHaiIHIAogGyAcIB1qIgB0IAZ2QQJ0aiIDLwEAOwAAIAUgACADLQACajYCBCAJIA9qIQAgBCALaiEEIAIgEGohAiAHIAMtAANqIQMgBUE8ahATIAVBKGoQE3IgBUEUahATciAFEBNyQQBHIQkMAAsACyAAIAhLIAQgDUtyDQBBbCEGIAIgDEsNAQJAAkAgCCAAayIJQQRPBEAgCEEDayEQQQAgDmtBH3EhCyAFKAJAIQYDQCAGQSFPBEAgBUGwGjYCRAwDCyAFAn8gBSgCRCIHIAUoAkxPBEAgBSAHIAZBA3ZrIgk2AkRBASEHIAZBB3EMAQsgByAFKAJIIglGDQMgBSAHIAZBA3YiDyAHIAlrIAcgD2sgCU8iBxsiD2siCTYCRCAGIA9BA3RrCyIGNgJAIAUgCSgAACIJNgI8IAdFIAAgEE9yDQIgACAKIAkgBnQgC3ZBAnRqIgYvAQA7AAAgBSAFKAJAIAYtAAJqIgc2AkAgACAGLQADaiIJIAogBSgCPCAHdCALdkECdGoiAC8BADsAACAFIAUoAkAgAC0AAmoiBjYCQCAJIAAtAANqIQAMAAsACyAFKAJAIgZBIU8EQCAFQbAaNgJEDAILIAUoAkQiCyAFKAJMTwRAIAUgBkEHcSIHNgJAIAUgCyAGQQN2ayIGNgJEIAUgBigAADYCPCAHIQYMAgsgCyAFKAJIIgdGDQEgBSAGIAsgB2sgBkEDdiIGIAsgBmsgB0kbIgdBA3RrIgY2AkAgBSALIAdrIgc2AkQgBSAHKAAANgI8DAELIAggAGshCQsCQCAJQQJJDQAgCEECayELQQAgDmtBH3EhEANAAkAgBkEhTwRAIAVBsBo2AkQMAQsgBQJ/IAUoAkQiByAFKAJMTwRAIAUgByAGQQN2ayIJNgJEQQEhByAGQQdxDAELIAcgBSgCSCIJRg0BIAUgByAGQQN2Ig8gByAJayAHIA9rIAlPIgcbIg9rIgk2AkQgBiAPQQN0awsiBjYCQCAFIAkoAAAiCTYCPCAHRSAAIAtLcg0AIAAgCiAJIAZ0IBB2QQJ0aiIHLwEAOwAAIAUgBSgCQCAHLQACaiIGNgJAIAAgBy0AA2ohAAwBCwsDQCAAIAtLDQEgACAKIAUoAjwgBnQgEHZBAnRqIgcvAQA7AAAgBSAFKAJAIActAAJqIgY2AkAgACAHLQADaiEADAALAAsCQCAAIAhPDQAgACAKIAUoAjwgBnRBACAOa3ZBAnRqIgAtAAA6AAAgBQJ/IAAtAANBAUYEQCAFKAJAIAAtAAJqDAELIAUoAkAiCEEfSw0BQSAgCCAALQACaiIAIABBIE8bCzYCQAsCQAJAIA0gBGsiBkEETwRAIA1BA2shCUEAIA5rQR9xIQcgBSgCLCEAA0AgAEEhTwRAIAVBsBo2AjAMAwsgBQJ/IAUoAjAiCCAFKAI4TwRAIAUgCCAAQQN2ayIGNgIwQQEhCCAAQQdxDAELIAggBSgCNCIGRg0DIAUgCCAAQQN2IgsgCCAGayAIIAtrIAZPIggbIgtrIgY2AjAgACALQQN0awsiADYCLCAFIAYoAAAiBjYCKCAIRSAEIAlPcg0CIAQgCiAGIAB0IAd2QQJ0aiIALwEAOwAAIAUgBSgCLCAALQACaiIINgIsIAQgAC0AA2oiBiAKIAUoAiggCHQgB3ZBAnRqIgQvAQA7AAAgBSAFKAIsIAQtAAJqIgA2AiwgBiAELQADaiEEDAALAAsgBSgCLCIAQSFPBEAgBUGwGjYCMAwCCyAFKAIwIgcgBSgCOE8EQCAFIABBB3EiCDYCLCAFIAcgAEEDdmsiADYCMCAFIAAoAAA2AiggCCEADAILIAcgBSgCNCIIRg0BIAUgACAHIAhrIABBA3YiACAHIABrIAhJGyIIQQN0ayIANgIsIAUgByAIayIINgIwIAUgCCgAADYCKAwBCyANIARrIQYLAkAgBkECSQ0AIA1BAmshCUEAIA5rQR9xIQsDQAJAIABBIU8EQCAFQbAaNgIwDAELIAUCfyAFKAIwIgggBSgCOE8EQCAFIAggAEEDdmsiBjYCMEEBIQcgAEEHcQwBCyAIIAUoAjQiBkYNASAFIAggAEEDdiIHIAggBmsgCCAHayAGTyIHGyIIayIGNgIwIAAgCEEDdGsLIgA2AiwgBSAGKAAAIgg2AiggB0UgBCAJS3INACAEIAogCCAAdCALdkECdGoiCC8BADsAACAFIAUoAiwgCC0AAmoiADYCLCAEIAgtAANqIQQMAQsLA0AgBCAJSw0BIAQgCiAFKAIoIAB0IAt2QQJ0aiIILwEAOwAAIAUgBSgCLCAILQACaiIANgIsIAQgCC0AA2ohBAwACwALAkAgBCANTw0AIAQgCiAFKAIoIAB0QQAgDmt2QQJ0aiIALQAAOgAAIAUCfyAALQADQQFGBEAgBSgCLCAALQACagwBCyAFKAIsIgRBH0sNAUEgIAQgAC0AAmoiACAAQSBPGws2AiwLAkACQCAMIAJrIgZBBE8EQCAMQQNrIQdBACAOa0EfcSEIIAUoAhghAANAIABBIU8EQCAFQbAaNgIcDAMLIAUCfyAFKAIcIgQgBSgCJE8EQCAFIAQgAEEDdmsiBjYCHEEBIQkgAEEHcQwBCyAEIAUoAiAiDUYNAyAFIAQgAEEDdiIGIAQgDWsgBCAGayANTyIJGyIEayIGNgIcIAAgBEEDdGsLIgA2AhggBSAGKAAAIgQ2AhQgCUUgAiAHT3INAiACIAogBCAAdCAIdkECdGoiAC8BADsAACAFIAUoAhggAC0AAmoiBDYCGCACIAAtAANqIg0gCiAFKAIUIAR0IAh2QQJ0aiICLwEAOwAAIAUgBSgCGCACLQACaiIANgIYIA0gAi0AA2ohAgwACwALIAUoAhgiAEEhTwRAIAVBsBo2AhwMAgsgBSgCHCIIIAUoAiRPBEAgBSAAQQdxIgQ2AhggBSAIIABBA3ZrIgA2AhwgBSAAKAAANgIUIAQhAAwCCyAIIAUoAiAiBEYNASAFIAAgCCAEayAAQQN2IgAgCCAAayAESRsiBEEDdGsiADYCGCAFIAggBGsiBDYCHCAFIAQoAAA2AhQMAQsgDCACayEGCwJAIAZBAkkNACAMQQJrIQ1BACAOa0EfcSEHA0ACQCAAQSFPBEAgBUGwGjYCHAwBCyAFAn8gBSgCHCIEIAUoAiRPBEAgBSAEIABBA3ZrIgY2AhxBASEIIABBB3EMAQsgBCAFKAIgIghGDQEgBSAEIABBA3YiBiAEIAhrIAQgBmsgCE8iCBsiBGsiBjYCHCAAIARBA3RrCyIANgIYIAUgBigAACIENgIUIAhFIAIgDUtyDQAgAiAKIAQgAHQgB3ZBAnRqIgQvAQA7AAAgBSAFKAIYIAQtAAJqIgA2AhggAiAELQADaiECDAELCwNAIAIgDUsNASACIAogBSgCFCAAdCAHdkECdGoiBC8BADsAACAFIAUoAhggBC0AAmoiADYCGCACIAQtAANqIQIMAAsACwJAIAIgDE8NACACIAogBSgCFCAAdEEAIA5rdkECdGoiAC0AADoAACAFAn8gAC0AA0EBRgRAIAUoAhggAC0AAmoMAQsgBSgCGCICQR9LDQFBICACIAAtAAJqIgAgAEEgTxsLNgIYCwJAIBEgA2tBBE8EQEEAIA5rQR9xIQQgBSgCBCEAA0AgAEEhTwRAIAVBsBo2AggMAwsgBQJ/IAUoAggiAiAFKAIQTwRAIAUgAiAAQQN2ayIGNgIIQQEhAiAAQQdxDAELIAIgBSgCDCIMRg0DIAUgAiAAQQN2IgggAiAMayACIAhrIAxPIgIbIgxrIgY2AgggACAMQQN0awsiADYCBCAFIAYoAAAiDDYCACACRSADIBJPcg0CIAMgCiAMIAB0IAR2QQJ0aiIALwEAOwAAIAUgBSgCBCAALQACaiICNgIEIAMgAC0AA2oiAyAKIAUoAgAgAnQgBHZBAnRqIgIvAQA7AAAgBSAFKAIEIAItAAJqIgA2AgQgAyACLQADaiEDDAALAAsgBSgCBCIAQSFPBEAgBUGwGjYCCAwBCyAFKAIIIgQgBSgCEE8EQCAFIABBB3EiAjYCBCAFIAQgAEEDdmsiADYCCCAFIAAoAAA2AgAgAiEADAELIAQgBSgCDCICRg0AIAUgACAEIAJrIABBA3YiACAEIABrIAJJGyICQQN0ayIANgIEIAUgBCACayICNgIIIAUgAigAADYCAAsCQCARIANrQQJJDQAgEUECayEEQQAgDmtBH3EhDANAAkAgAEEhTwRAIAVBsBo2AggMAQsgBQJ/IAUoAggiAiAFKAIQTwRAIAUgAiAAQQN2ayIGNgIIQQEhCSAAQQdxDAELIAIgBSgCDCIIRg0BIAUgAiAAQQN2Ig0gAiAIayACIA1rIAhPIgkbIgJrIgY2AgggACACQQN0awsiADYCBCAFIAYoAAAiAjYCACAJRSADIARLcg0AIAMgCiACIAB0IAx2QQJ0aiICLwEAOwAAIAUgBSgCBCACLQACaiIANgIEIAMgAi0AA2ohAwwBCwsDQCADIARLDQEgAyAKIAUoAgAgAHQgDHZBAnRqIgIvAQA7AAAgBSAFKAIEIAItAAJqIgA2AgQgAyACLQADaiEDDAALAAsCQCADIBFPDQAgAyAKIAUoAgAgAHRBACAOa3ZBAnRqIgItAAA6AAAgAi0AA0EBRgRAIAUoAgQgAi0AAmohAAwBCyAFKAIEIgBBH0sNAEEgIAAgAi0AAmoiACAAQSBPGyEAC0FsQWxBbEFsQWxBbEFsQWwgASAAQSBHGyAFKAIIIAUoAgxHGyAFKAIYQSBHGyAFKAIcIAUoAiBHGyAFKAIsQSBHGyAFKAIwIAUoAjRHGyAFKAJAQSBHGyAFKAJEIAUoAkhHGyEGDAELQWwhBgsgBUHQAGokACAGCxkAIAAoAgggACgCEEkEQEEDDwsgABAMQQAL8xwBFn8jAEHQAGsiBSQAQWwhCAJAIAFBBkkgA0EKSXINAAJAIAMgAi8ABCIGIAIvAAAiCiACLwACIglqakEGaiISSQ0AIAAgAUEDakECdiILaiIHIAtqIg4gC2oiCyAAIAFqIg9LDQAgBC8BAiEMIAVBPGogAkEGaiICIAoQCCIIQYh/Sw0BIAVBKGogAiAKaiICIAkQCCIIQYh/Sw0BIAVBFGogAiAJaiICIAYQCCIIQYh/Sw0BIAUgAiAGaiADIBJrEAgiCEGIf0sNASAEQQRqIQogD0EDayESAkAgDyALa0EESQRAIAshAyAOIQIgByEEDAELQQAgDGtBH3EhCEEAIQYgCyEDIA4hAiAHIQQDQCAGQQFxIAMgEk9yDQEgCiAFKAI8IgYgBSgCQCIJdCAIdkEBdGoiDS0AACEQIAAgDS0AAToAACAKIAUoAigiDSAFKAIsIhF0IAh2QQF0aiITLQAAIRUgBCATLQABOgAAIAogBSgCFCITIAUoAhgiFnQgCHZBAXRqIhQtAAAhFyACIBQtAAE6AAAgCiAFKAIAIhQgBSgCBCIYdCAIdkEBdGoiGS0AACEaIAMgGS0AAToAACAKIAYgCSAQaiIGdCAIdkEBdGoiCS0AASEQIAUgBiAJLQAAajYCQCAAIBA6AAEgCiANIBEgFWoiBnQgCHZBAXRqIgktAAEhDSAFIAYgCS0AAGo2AiwgBCANOgABIAogEyAWIBdqIgZ0IAh2QQF0aiIJLQABIQ0gBSAGIAktAABqNgIYIAIgDToAASAKIBQgGCAaaiIGdCAIdkEBdGoiCS0AASENIAUgBiAJLQAAajYCBCADIA06AAEgA0ECaiEDIAJBAmohAiAEQQJqIQQgAEECaiEAIAVBPGoQEyAFQShqEBNyIAVBFGoQE3IgBRATckEARyEGDAALAAsgACAHSyAEIA5Lcg0AQWwhCCACIAtLDQECQCAHIABrQQROBEAgB0EDayEQQQAgDGtBH3EhDQNAIAUoAkAiBkEhTwRAIAVBsBo2AkQMAwsgBQJ/IAUoAkQiCCAFKAJMTwRAIAUgCCAGQQN2ayIINgJEQQEhCSAGQQdxDAELIAggBSgCSCIJRg0DIAUgCCAGQQN2IhEgCCAJayAIIBFrIAlPIgkbIhFrIgg2AkQgBiARQQN0awsiBjYCQCAFIAgoAAAiCDYCPCAJRSAAIBBPcg0CIAogCCAGdCANdkEBdGoiCC0AASEJIAUgBiAILQAAajYCQCAAIAk6AAAgCiAFKAI8IAUoAkAiBnQgDXZBAXRqIggtAAEhCSAFIAYgCC0AAGo2AkAgACAJOgABIABBAmohAAwACwALIAUoAkAiBkEhTwRAIAVBsBo2AkQMAQsgBSgCRCIJIAUoAkxPBEAgBSAGQQdxIgg2AkAgBSAJIAZBA3ZrIgY2AkQgBSAGKAAANgI8IAghBgwBCyAJIAUoAkgiCEYNACAFIAYgCSAIayAGQQN2IgYgCSAGayAISRsiCEEDdGsiBjYCQCAFIAkgCGsiCDYCRCAFIAgoAAA2AjwLQQAgDGtBH3EhCANAAkAgBkEhTwRAIAVBsBo2AkQMAQsgBQJ/IAUoAkQiCSAFKAJMTwRAIAUgCSAGQQN2ayIMNgJEQQEhCSAGQQdxDAELIAkgBSgCSCIMRg0BIAUgCSAGQQN2Ig0gCSAMayAJIA1rIAxPIgkbIg1rIgw2AkQgBiANQQN0awsiBjYCQCAFIAwoAAAiDDYCPCAJRSAAIAdPcg0AIAogDCAGdCAIdkEBdGoiCS0AASEMIAUgBiAJLQAAajYCQCAAIAw6AAAgAEEBaiEAIAUoAkAhBgwBCwsDQCAAIAdPRQRAIAogBSgCPCAFKAJAIgZ0IAh2QQF0aiIJLQABIQwgBSAGIAktAABqNgJAIAAgDDoAACAAQQFqIQAMAQsLAkAgDiAEa0EETgRAIA5BA2shCQNAIAUoAiwiAEEhTwRAIAVBsBo2AjAMAwsgBQJ/IAUoAjAiByAFKAI4TwRAIAUgByAAQQN2ayIGNgIwQQEhByAAQQdxDAELIAcgBSgCNCIGRg0DIAUgByAAQQN2IgwgByAGayAHIAxrIAZPIgcbIgxrIgY2AjAgACAMQQN0awsiADYCLCAFIAYoAAAiBjYCKCAHRSAEIAlPcg0CIAogBiAAdCAIdkEBdGoiBy0AASEGIAUgACAHLQAAajYCLCAEIAY6AAAgCiAFKAIoIAUoAiwiAHQgCHZBAXRqIgctAAEhBiAFIAAgBy0AAGo2AiwgBCAGOgABIARBAmohBAwACwALIAUoAiwiAEEhTwRAIAVBsBo2AjAMAQsgBSgCMCIGIAUoAjhPBEAgBSAAQQdxIgc2AiwgBSAGIABBA3ZrIgA2AjAgBSAAKAAANgIoIAchAAwBCyAGIAUoAjQiB0YNACAFIAAgBiAHayAAQQN2IgAgBiAAayAHSRsiB0EDdGsiADYCLCAFIAYgB2siBzYCMCAFIAcoAAA2AigLA0ACQCAAQSFPBEAgBUGwGjYCMAwBCyAFAn8gBSgCMCIHIAUoAjhPBEAgBSAHIABBA3ZrIgY2AjBBASEHIABBB3EMAQsgByAFKAI0IgZGDQEgBSAHIABBA3YiCSAHIAZrIAcgCWsgBk8iBxsiCWsiBjYCMCAAIAlBA3RrCyIANgIsIAUgBigAACIGNgIoIAdFIAQgDk9yDQAgCiAGIAB0IAh2QQF0aiIHLQABIQYgBSAAIActAABqNgIsIAQgBjoAACAEQQFqIQQgBSgCLCEADAELCwNAIAQgDk9FBEAgCiAFKAIoIAUoAiwiAHQgCHZBAXRqIgctAAEhBiAFIAAgBy0AAGo2AiwgBCAGOgAAIARBAWohBAwBCwsCQCALIAJrQQROBEAgC0EDayEOA0AgBSgCGCIAQSFPBEAgBUGwGjYCHAwDCyAFAn8gBSgCHCIEIAUoAiRPBEAgBSAEIABBA3ZrIgQ2AhxBASEGIABBB3EMAQsgBCAFKAIgIgdGDQMgBSAEIABBA3YiBiAEIAdrIAQgBmsgB08iBhsiB2siBDYCHCAAIAdBA3RrCyIANgIYIAUgBCgAACIENgIUIAZFIAIgDk9yDQIgCiAEIAB0IAh2QQF0aiIELQABIQcgBSAAIAQtAABqNgIYIAIgBzoAACAKIAUoAhQgBSgCGCIAdCAIdkEBdGoiBC0AASEHIAUgACAELQAAajYCGCACIAc6AAEgAkECaiECDAALAAsgBSgCGCIAQSFPBEAgBUGwGjYCHAwBCyAFKAIcIgcgBSgCJE8EQCAFIABBB3EiBDYCGCAFIAcgAEEDdmsiADYCHCAFIAAoAAA2AhQgBCEADAELIAcgBSgCICIERg0AIAUgACAHIARrIABBA3YiACAHIABrIARJGyIEQQN0ayIANgIYIAUgByAEayIENgIcIAUgBCgAADYCFAsDQAJAIABBIU8EQCAFQbAaNgIcDAELIAUCfyAFKAIcIgQgBSgCJE8EQCAFIAQgAEEDdmsiBDYCHEEBIQYgAEEHcQwBCyAEIAUoAiAiB0YNASAFIAQgAEEDdiIOIAQgB2sgBCAOayAHTyIGGyIHayIENgIcIAAgB0EDdGsLIgA2AhggBSAEKAAAIgQ2AhQgBkUgAiALT3INACAKIAQgAHQgCHZBAXRqIgQtAAEhByAFIAAgBC0AAGo2AhggAiAHOgAAIAJBAWohAiAFKAIYIQAMAQsLA0AgAiALT0UEQCAKIAUoAhQgBSgCGCIAdCAIdkEBdGoiBC0AASEHIAUgACAELQAAajYCGCACIAc6AAAgAkEBaiECDAELCwJAIA8gA2tBBE4EQANAIAUoAgQiAEEhTwRAIAVBsBo2AggMAwsgBQJ/IAUoAggiAiAFKAIQTwRAIAUgAiAAQQN2ayIENgIIQQEhAiAAQQdxDAELIAIgBSgCDCIERg0DIAUgAiAAQQN2IgsgAiAEayACIAtrIARPIgIbIgtrIgQ2AgggACALQQN0awsiADYCBCAFIAQoAAAiBDYCACACRSADIBJPcg0CIAogBCAAdCAIdkEBdGoiAi0AASEEIAUgACACLQAAajYCBCADIAQ6AAAgCiAFKAIAIAUoAgQiAHQgCHZBAXRqIgItAAEhBCAFIAAgAi0AAGo2AgQgAyAEOgABIANBAmohAwwACwALIAUoAgQiAEEhTwRAIAVBsBo2AggMAQsgBSgCCCIEIAUoAhBPBEAgBSAAQQdxIgI2AgQgBSAEIABBA3ZrIgA2AgggBSAAKAAANgIAIAIhAAwBCyAEIAUoAgwiAkYNACAFIAAgBCACayAAQQN2IgAgBCAAayACSRsiAkEDdGsiADYCBCAFIAQgAmsiAjYCCCAFIAIoAAA2AgALA0ACQCAAQSFPBEAgBUGwGjYCCAwBCyAFAn8gBSgCCCICIAUoAhBPBEAgBSACIABBA3ZrIgQ2AghBASECIABBB3EMAQsgAiAFKAIMIgRGDQEgBSACIABBA3YiCyACIARrIAIgC2sgBE8iAhsiC2siBDYCCCAAIAtBA3RrCyIANgIEIAUgBCgAACIENgIAIAJFIAMgD09yDQAgCiAEIAB0IAh2QQF0aiICLQABIQQgBSAAIAItAABqNgIEIAMgBDoAACADQQFqIQMgBSgCBCEADAELCwNAIAMgD09FBEAgCiAFKAIAIAUoAgQiAHQgCHZBAXRqIgItAAEhBCAFIAAgAi0AAGo2AgQgAyAEOgAAIANBAWohAwwBCwtBbEFsQWxBbEFsQWxBbEFsIAEgBSgCBEEgRxsgBSgCCCAFKAIMRxsgBSgCGEEgRxsgBSgCHCAFKAIgRxsgBSgCLEEgRxsgBSgCMCAFKAI0RxsgBSgCQEEgRxsgBSgCRCAFKAJIRxshCAwBC0FsIQgLIAVB0ABqJAAgCAsaACAABEAgAQRAIAIgACABEQIADwsgABACCwtSAQN/AkAgACgCmOsBIgFFDQAgASgCACABKAK01QEiAiABKAK41QEiAxAVIAIEQCADIAEgAhECAAwBCyABEAILIABBADYCqOsBIABCADcDmOsBC5QFAgR/An4jAEEQayIGJAACQCABIAJFckUEQEF/IQQMAQsCQEEBQQUgAxsiBCACSwRAIAJFIANBAUZyDQIgBkGo6r5pNgIMIAJFIgBFBEAgBkEMaiABIAL8CgAACyAGKAIMQajqvmlGDQIgBkHQ1LTCATYCDCAARQRAIAZBDGogASAC/AoAAAsgBigCDEFwcUHQ1LTCAUYNAgwBCyAAQQBBMPwLAEEBIQUCQCADQQFGDQAgAyEFIAEoAAAiA0Go6r5pRg0AIANBcHFB0NS0wgFHDQFBCCEEIAJBCEkNAiAAQQE2AhQgASgAACECIABBCDYCGCAAIAJB0NS0wgFrNgIcIAAgATUABDcDAEEAIQQMAgsgAiABIAIgBRAYIgJJBEAgAiEEDAILIAAgAjYCGCABIARqIgVBAWstAAAiAkEIcQRAQXIhBAwCCyACQSBxIgNFBEAgBS0AACIFQacBSwRAQXAhBAwDCyAFQQdxrUIBIAVBA3ZBCmqthiIIQgOIfiAIfCEJIARBAWohBAsgAkEGdiEFIAJBAnYhBwJAAkACQAJAIAJBA3EiAkEBaw4DAAECAwsgASAEai0AACECIARBAWohBAwCCyABIARqLwAAIQIgBEECaiEEDAELIAEgBGooAAAhAiAEQQRqIQQLIAdBAXEhBwJ+AkACQAJAAkAgBUEBaw4DAQIDAAtCfyADRQ0DGiABIARqMQAADAMLIAEgBGozAABCgAJ8DAILIAEgBGo1AAAMAQsgASAEaikAAAshCCAAIAc2AiAgACACNgIcIAAgCDcDAEEAIQQgAEEANgIUIAAgCCAJIAMbIgg3AwggAEKAgAggCCAIQoCACFobPgIQDAELQXYhBAsgBkEQaiQAIAQLXwEBf0G4fyEDIAFBAUEFIAIbIgFPBH8gACABakEBay0AACIAQQNxQQJ0QcAaaigCACABaiAAQQR2QQxxQdAaaigCAGogAEEgcSIBRWogAUEFdiAAQcAASXFqBUG4fwsLxAICBH8CfiMAQUBqIgQkAAJAA0AgAUEFTwRAAkAgACgAAEFwcUHQ1LTCAUYEQEJ+IQYgAUEISQ0EIAAoAAQiA0F3Sw0EIANBCGoiAiABSw0EIANBgX9JDQEMBAsgBEEQaiIDIAAgAUEAEBchAkJ+IAQpAxBCACAEKAIkQQFHGyACGyIGQn1WDQMgBiAHfCIHIAZUIQJCfiEGIAINAyADIAAgAUEAEBciAkGIf0sgAnINAyABIAQoAigiA2shAiAAIANqIQMDQCADIAIgBEEEahAaIgVBiH9LDQQgAiAFQQNqIgVJDQQgAiAFayECIAMgBWohAyAEKAIIRQ0ACyAEKAIwBH8gAkEESQ0EIANBBGoFIAMLIABrIgJBiH9LDQMLIAEgAmshASAAIAJqIQAMAQsLQn4gByABGyEGCyAEQUBrJAAgBgtkAQF/Qbh/IQMCQCABQQNJDQAgAC0AAiEBIAIgAC8AACIAQQFxNgIEIAIgAEEBdkEDcSIDNgIAIAIgACABQRB0ckEDdiIANgIIAkACQCADQQFrDgMCAQABC0FsDwsgACEDCyADC7ABAAJ/IAIgACgClOsBBH8gACgC0OkBBUGAgAgLIgIgA2pBQGtLBEAgACABIAJqQSBqIgE2AvzrAUEBIQIgASADagwBCyADQYCABE0EQCAAIABBiOwBaiIBNgL86wFBACECIAEgA2oMAQsgACABIARqIgEgA2siAkHg/wNqIgQgAiAFGzYC/OsBQQIhAiADIARqQYCABGsgASAFGwshAyAAIAI2AoTsASAAIAM2AoDsAQuyBwIEfwF+IwBBgAFrIg4kACAOIAM2AnwCQAJAAkACQAJAAkAgAkEBaw4DAAMCAQsgBkUEQEG4fyEKDAULIAMgBS0AACICSQ0DIAIgCGotAAAhAyAHIAJBAnRqKAIAIQIgAEEAOgALIABCADcCACAAIAI2AgwgACADOgAKIABBADsBCCABIAA2AgBBASEKDAQLIAEgCTYCAEEAIQoMAwsgCkUNAUEAIQogC0UgDEEZSXINAkEIIAR0QQhyIQBBACEDA0AgACADTQ0DIANBQGshAwwACwALQWwhCiAOIA5B/ABqIA5B+ABqIAUgBhAGIgNBiH9LDQEgDigCeCICIARLDQEgAEEMaiEMIA4oAnxBAWohEUGAgAIgAnRBEHYhEEEAIQRBASEFQQEgAnQiCkEBayILIQkDQCAEIBFHBEACQCAOIARBAXQiD2ovAQAiBkH//wNGBEAgDCAJQQN0aiAENgIAIAlBAWshCUEBIQYMAQsgBUEAIBAgBsFKGyEFCyANIA9qIAY7AQAgBEEBaiEEDAELCyAAIAI2AgQgACAFNgIAAkAgCSALRgRAIA1B6gBqIRBBACEJQQAhBQNAIAkgEUYEQCAKQQN2IApBAXZqQQNqIglBAXQhEUEAIQZBACEFA0AgBSAKTw0EIAUgEGohD0EAIQQDQCAEQQJHBEAgDCAEIAlsIAZqIAtxQQN0aiAEIA9qLQAANgIAIARBAWohBAwBCwsgBUECaiEFIAYgEWogC3EhBgwACwAFIA4gCUEBdGouAQAhBiAFIBBqIg8gEjcAAEEIIQQDQCAEIAZIBEAgBCAPaiASNwAAIARBCGohBAwBCwsgEkKBgoSIkKDAgAF8IRIgCUEBaiEJIAUgBmohBQwBCwALAAsgCkEDdiAKQQF2akEDaiEQQQAhBUEAIQYDQCAFIBFGDQFBACEEIA4gBUEBdGouAQAiD0EAIA9BAEobIQ8DQCAEIA9HBEAgDCAGQQN0aiAFNgIAA0AgBiAQaiALcSIGIAlLDQALIARBAWohBAwBCwsgBUEBaiEFDAALAAsgAEEIaiEJIAJBH2shC0EAIQYDQCAGIApHBEAgDSAJIAZBA3RqIgIoAgQiBEEBdGoiBSAFLwEAIgVBAWo7AQAgAiALIAVnaiIMOgADIAIgBSAMdCAKazsBACACIAQgCGotAAA6AAIgAiAHIARBAnRqKAIANgIEIAZBAWohBgwBCwsgASAANgIAIAMhCgwBC0FsIQoLIA5BgAFqJAAgCgtwAQR/IABCADcCACACBEAgAUEKaiEGIAEoAgQhBEEAIQJBACEBA0AgASAEdkUEQCACIAYgAUEDdGotAAAiBSACIAVLGyECIAFBAWohASADIAVBFktqIQMMAQsLIAAgAjYCBCAAIANBCCAEa3Q2AgALC64BAQR/IAEgAigCBCIDIAEoAgRqIgQ2AgQgACADQQJ0QbAZaigCACABKAIAQQAgBGt2cTYCAAJAIARBIU8EQCABQbAaNgIIDAELIAEoAggiAyABKAIQTwRAIAEQDAwBCyADIAEoAgwiBUYNACABIAMgAyAFayAEQQN2IgYgAyAGayAFSRsiA2siBTYCCCABIAQgA0EDdGs2AgQgASAFKAAANgIACyAAIAJBCGo2AgQLjQICA38BfiAAIAJqIQQCQAJAIAJBCE4EQCAAIAFrIgJBeUgNAQsDQCAAIARPDQIgACABLQAAOgAAIABBAWohACABQQFqIQEMAAsACwJAAkAgAkFvSw0AIAAgBEEgayICSw0AIAEpAAAhBiAAIAEpAAg3AAggACAGNwAAIAIgAGsiBUERTgRAIABBEGohACABIQMDQCADKQAQIQYgACADKQAYNwAIIAAgBjcAACADKQAgIQYgACADKQAoNwAYIAAgBjcAECADQSBqIQMgAEEgaiIAIAJJDQALCyABIAVqIQEMAQsgACECCwNAIAIgBE8NASACIAEtAAA6AAAgAkEBaiECIAFBAWohAQwACwALC98BAQZ/Qbp/IQoCQCACKAIEIgggAigCACIJaiINIAEgAGtLDQBBbCEKIAkgBCADKAIAIgtrSw0AIAAgCWoiBCACKAIIIgxrIQIgACABQSBrIgEgCyAJQQAQIyADIAkgC2o2AgACQAJAIAQgBWsgDE8EQCACIQUMAQsgDCAEIAZrSw0CIAcgByACIAVrIgNqIgIgCGpPBEAgCEUNAiAEIAIgCPwKAAAMAgtBACADayIABEAgBCACIAD8CgAACyADIAhqIQggBCADayEECyAEIAEgBSAIQQEQIwsgDSEKCyAKC+sBAQZ/Qbp/IQsCQCADKAIEIgkgAygCACIKaiINIAEgAGtLDQAgBSAEKAIAIgVrIApJBEBBbA8LIAMoAgghDCAAIAVLIAUgCmoiDiAAS3ENACAAIApqIgMgDGshASAAIAUgChAfIAQgDjYCAAJAAkAgAyAGayAMTwRAIAEhBgwBC0FsIQsgDCADIAdrSw0CIAggCCABIAZrIgBqIgEgCWpPBEAgCUUNAiADIAEgCfwKAAAMAgtBACAAayIEBEAgAyABIAT8CgAACyAAIAlqIQkgAyAAayEDCyADIAIgBiAJQQEQIwsgDSELCyALC6sCAQJ/IAJBH3EhAyABIQQDQCADQQhJRQRAIANBCGshAyAEKQAAQs/W077Sx6vZQn5CH4lCh5Wvr5i23puef34gAIVCG4lCh5Wvr5i23puef35CnaO16oOxjYr6AH0hACAEQQhqIQQMAQsLIAEgAkEYcWohASACQQdxIgNBBEkEfyABBSADQQRrIQMgATUAAEKHla+vmLbem55/fiAAhUIXiULP1tO+0ser2UJ+Qvnz3fGZ9pmrFnwhACABQQRqCyEEA0AgAwRAIANBAWshAyAEMQAAQsXP2bLx5brqJ34gAIVCC4lCh5Wvr5i23puef34hACAEQQFqIQQMAQsLIABCIYggAIVCz9bTvtLHq9lCfiIAQh2IIACFQvnz3fGZ9pmrFn4iAEIgiCAAhQvhBAIBfgJ/IAAgA2ohBwJAIANBB0wEQANAIAAgB08NAiAAIAItAAA6AAAgAEEBaiEAIAJBAWohAgwACwALIAQEQAJAIAAgAmsiBkEHTQRAIAAgAi0AADoAACAAIAItAAE6AAEgACACLQACOgACIAAgAi0AAzoAAyAAIAIgBkECdCIGQeAaaigCAGoiAigAADYABCACIAZBgBtqKAIAayECDAELIAAgAikAADcAAAsgA0EIayEDIAJBCGohAiAAQQhqIQALIAEgB08EQCAAIANqIQEgBEUgACACa0EPSnJFBEADQCAAIAIpAAA3AAAgAkEIaiECIABBCGoiACABSQ0ADAMLAAsgAikAACEFIAAgAikACDcACCAAIAU3AAAgA0ERSQ0BIABBEGohAANAIAIpABAhBSAAIAIpABg3AAggACAFNwAAIAIpACAhBSAAIAIpACg3ABggACAFNwAQIAJBIGohAiAAQSBqIgAgAUkNAAsMAQsCQCAAIAFLBEAgACEBDAELIAEgAGshBgJAIARFIAAgAmtBD0pyRQRAIAIhAwNAIAAgAykAADcAACADQQhqIQMgAEEIaiIAIAFJDQALDAELIAIpAAAhBSAAIAIpAAg3AAggACAFNwAAIAZBEUgNACAAQRBqIQAgAiEDA0AgAykAECEFIAAgAykAGDcACCAAIAU3AAAgAykAICEFIAAgAykAKDcAGCAAIAU3ABAgA0EgaiEDIABBIGoiACABSQ0ACwsgAiAGaiECCwNAIAEgB08NASABIAItAAA6AAAgAUEBaiEBIAJBAWohAgwACwALC6HFAQI2fwV+IwBBEGsiMSQAAkBBwOwFEAEiCEUEQEFAIQYMAQsgCEIANwL86gEgCEEANgKc6wEgCEEANgKQ6wEgCEEANgLU6wEgCEEANgLE6wEgCEIANwKk6wEgCEEANgK46QEgCEEANgK87AUgCEIANwK86wEgCEEANgKs6wEgCEIBNwKU6wEgCEIANwPo6wEgCEGBgIDAADYCzOsBIAhCADcC7OoBIAhCADcDsOsBIAhBADYCuOsBIAhBhOsBakEANgIAIAgQFiAIQbjqAWohNCAIQcDpAWohNiAIQZDqAWohNyAAISwCQAJAAkACQANAQQFBBSAIKALs6gEiCxshEwJAA0AgAyATSQ0BAkAgA0EESSALcg0AIAIoAABBcHFB0NS0wgFHDQBBuH8hBiADQQhJDQcgAigABCIHQXdLBEBBciEGDAgLIAMgB0EIaiIESQ0HIAdBgH9LBEAgBCEGDAgLIAMgBGshAyACIARqIQIMAQsLIAhCADcCrOkBIAhCADcD8OkBIAhBjICA4AA2AqhQIAhBADYCoOsBIAhCADcDiOoBIAhBATYClOsBIAhCAzcDgOoBIAhBtOkBakIANwIAIAhB+OkBakIANwMAIAhB9A4pAgA3AqzQASAIQbTQAWpB/A4oAgA2AgAgCCAIQRBqNgIAIAggCEGgMGo2AgQgCCAIQZggajYCCCAIIAhBqNAAajYCDCAIQQFBBSAIKALs6gEbNgK86QECQCABRQ0AICwgCCgCrOkBIgZGDQAgCCAGNgK46QEgCCAsNgKs6QEgCCgCsOkBIQQgCCAsNgKw6QEgCCAsIAQgBmtqNgK06QELQbh/IQYgA0EFQQkgCCgC7OoBIhMbSQ0FIAJBAUEFIBMbIBMQGCIEQYh/Sw0EIAMgBEEDakkNBSA2IAIgBCATEBciBkGIf0sEQCAGIQQMBQsgBg0DAkACQCAIKAKw6wFBAUcNACAIKAKs6wEiC0UNACAIKAKc6wFFDQAgCygCBCEGIDEgCCgC3OkBIgo2AgQgBkEBayIHQsnP2bLx5brqJyAxQQRqQQQQIqdxIRMgCygCACELA0AgCiALIBNBAnRqKAIAIgwEfyAMKAKo1QEFQQALIgZHBEAgByATcUEBaiETIAYNAQsLIAxFDQAgCBAWIAhBfzYCqOsBIAggDDYCnOsBIAggCCgC3OkBIhM2AqDrAQwBCyAIKALc6QEhEwsCQCATRQ0AIAgoAqDrASATRg0AQWAhBAwFCwJAIAgoAuDpAQRAIAggCCgC8OoBIgZFNgL06gEgBg0BIDdBAEHYAPwLACAIQvnq0NDnyaHk4QA3A7DqASAIQs/W077Sx6vZQjcDoOoBIAhC1uuC7ur9ifXgADcDmOoBDAELIAhBADYC9OoBCyAIIAgpA/DpASAErXw3A/DpASAIKAK46wEiEwRAIAggCCgC0OkBIgYgEyAGIBNJGzYC0OkBCyABICxqITUgAyAEayEDIAIgBGohAiAsIRMDQCACIAMgMUEEahAaIiBBiH9LBEAgICEEDAYLIANBA2siOCAgSQ0EIAJBA2oiHSA1IB0gNUkbIDUgEyAdTRshAkFsIQQCQAJAAkACQAJAAkACQAJAIDEoAgQOAwECAA0LIAIgE2shFEEAITMjAEHQAmsiBSQAAkACQCAIKAKU6wEiAgR/IAgoAtDpAQVBgIAICyAgSQ0AAkAgIEECSQ0AIB0tAAAiA0EDcSEaIAIEfyAIKALQ6QEFQYCACAshBgJAAkACQAJAAkACQAJAAkACQAJAIBpBAWsOAwMBAAILIAgoAojqAQ0AQWIhAwwLCyAgQQVJDQhBAyEMIB0oAAAhBAJ/An8CQAJAAkAgA0ECdkEDcSICQQJrDgIBAgALIARBDnZB/wdxIQ0gBEEEdkH/B3EhECACQQBHDAMLIARBEnYhDSAEQQR2Qf//AHEhEEEEDAELIB0tAARBCnQgBEEWdnIhDSAEQQR2Qf//D3EhEEEFCyEMQQELIQRBun8hAyATQQEgEBtFDQogBiAQSQ0IIBBBBkkgBHEEQEFoIQMMCwsgDCANaiIKICBLDQggBiAUIAYgFEkbIgIgEEkNCiAIIBMgFCAQIAJBABAbAkAgCCgCpOsBRSAQQYEGSXINAEEAIQMDQCADQYOAAUsNASADQUBrIQMMAAsACyAaQQNGBEAgDCAdaiEGIAgoAgwiCy0AAUEIdCECIAgoAvzrASEDIARFBEAgAgRAIAVB4AFqIAYgDRAIIg5BiH9LDQkgC0EEaiEZIAMgEGohESALLwECIQkgEEEETwRAIBFBA2shBkEAIAlrQR9xIQcgBSgC6AEhDCAFKALsASEPIAUoAvABIQQgBSgC4AEhDSAFKALkASEOA0AgDkEgSwRAQbAaIQwMCgsCQCAEIAxNBEAgDkEHcSESIA5BA3YhDUEBIQ4MAQsgDCAPRg0KIA4gDkEDdiICIAwgD2sgDCACayAPTyIOGyINQQN0ayESCyAMIA1rIgwoAAAhDSAORSADIAZPcg0IIAMgGSANIBJ0IAd2QQJ0aiICLwEAOwAAIAMgAi0AA2oiAyAZIA0gEiACLQACaiICdCAHdkECdGoiCy8BADsAACADIAstAANqIQMgAiALLQACaiEODAALAAsgBSgC5AEiDkEhTwRAIAVBsBo2AugBDAkLIAUoAugBIgYgBSgC8AFPBEAgBSAOQQdxIgI2AuQBIAUgBiAOQQN2ayIENgLoASAFIAQoAAA2AuABIAIhDgwJCyAGIAUoAuwBIgRGDQggBSAOIAYgBGsgDkEDdiICIAYgAmsgBEkbIgJBA3RrIg42AuQBIAUgBiACayICNgLoASAFIAIoAAA2AuABDAgLIAMgECAGIA0gCxARIQ4MCAsgAgRAIAMgECAGIA0gCxASIQ4MCAsgAyAQIAYgDSALEBQhDgwHCyAIQazVAWohFyAMIB1qISEgCEGo0ABqIQcgCCgC/OsBIRYgBEUEQCAHICEgDSAXEA4iDkGIf0sNByANIA5NDQMgFiAQIA4gIWogDSAOayAHEBEhDgwHCyAQRQRAQbp/IQ4MBwsgDUUEQEFsIQ4MBwsgEEEIdiIDIA0gEEkEfyANQQR0IBBuBUEPC0EEdCIEQYwIaigCAGwgBEGICGooAgBqIgJBBXYgAmogBEGACGooAgAgBEGECGooAgAgA2xqSQRAIwBBEGsiLSQAIAcoAgAhESAXQfAEaiIeQQBB8AD8CwBBVCEDAkAgEUH/AXEiL0EMSw0AIBdB4AdqIgkgHiAtQQhqIC1BDGogISANIBdB4AlqEAciBEGIf00EQCAtKAIMIgsgL0sNASAXQagFaiEZIBdBpAVqITAgB0EEaiEbIBFBgICAeHEhJCALQQFqIjIhAyALIQYDQCADIgJBAWshAyAGIgxBAWshBiAeIAxBAnRqKAIARQ0AC0EBIAIgAkEBTRshDkEAIQZBASEDA0AgAyAORwRAIB4gA0ECdCIPaigCACECIA8gGWogBjYCACADQQFqIQMgAiAGaiEGDAELCyAXIAY2AqgFIBkgDEEBaiIfQQJ0aiAGNgIAIBdB4AVqISZBACEDIC0oAgghBgNAIAMgBkcEQCAZIAMgCWotAABBAnRqIgIgAigCACICQQFqNgIAIAIgJmogAzoAACADQQFqIQMMAQsLQQAhBiAZQQA2AgBBCyAvIBFB/wFxQQxGGyAvIAtBDEkbIikgC0F/c2ohD0EBIQMDQCADIA5HBEAgHiADQQJ0IgtqKAIAIQIgCyAXaiAGNgIAIAIgAyAPanQgBmohBiADQQFqIQMMAQsLICkgMiAMayILa0EBaiEJIAshBgNAIAYgCUkEQCAXIAZBNGxqIQ9BASEDA0AgAyAORwRAIA8gA0ECdCICaiACIBdqKAIAIAZ2NgIAIANBAWohAwwBCwsgBkEBaiEGDAELCyAyIClrIRUgDEEAIAxBAEobQQFqISdBASEuA0AgJyAuRwRAIDIgLmshBiAXIC5BAnQiAmooAgAhJSACIDBqKAIAISogMCAuQQFqIi5BAnRqKAIAIRggCyApIAZrIgNNBEAgHyAGIBVqIgJBASACQQFKIhIbIgIgAiAfSBshHCAXIAZBNGxqIh4gAkECdGohGSAGIDJqIREgBkEQdEGAgIAIaiEOQQEgA3QiCUECayEPA0AgGCAqRg0DIBsgJUECdGohKCAmICpqLQAAISsgAiEDIBIEQCAOICtyrUKBgICAEH4hOiAZKAIAIQZBACEDAkACQAJAAkAgDw4DAQIAAgsgKCA6NwEICyAoIDo3AQAMAQsDQCADIAZODQEgKCADQQJ0aiIMIDo3ARggDCA6NwEQIAwgOjcBCCAMIDo3AQAgA0EIaiEDDAALAAsgAiEDCwNAIAMgHEcEQCARIANrIQwgKCAeIANBAnQiBmooAgBBAnRqICYgBiAwaigCAGogJiAwIANBAWoiA0ECdGooAgBqIAwgKSArQQIQDwwBCwsgKkEBaiEqIAkgJWohJQwACwAFIBsgJUECdGogJiAqaiAYICZqIAYgKUEAQQEQDwwCCwALCyAHIClBEHQgJHIgL3JBgAJyNgIACyAEIQMLIC1BEGokACADIg5BiH9LDQcgAyANTw0DIBYgECADICFqIA0gA2sgBxASIQ4MBwsgByAhIA0gFxAOIg5BiH9LDQYgDSAOTQ0CIBYgECAOICFqIA0gDmsgBxAUIQ4MBgtBAiEQAn8CQAJAAkAgA0ECdkEDcUEBaw4DAQACAAtBASEQIANBA3YMAgsgHS8AAEEEdgwBCyAgQQJGDQhBAyEQIB0vAAAgHS0AAkEQdHJBBHYLIQtBun8hAyATQQEgCxtFDQkgBiALSQ0HIAsgFEsNCSAIIBMgFCALIAYgFCAGIBRJG0EBEBsgICALIBBqIgpBIGpJBEAgCiAgSw0IIBAgHWohBCAIKAL86wEhAwJAIAgoAoTsAUECRgRAIAtBgIAEayICBEAgAyAEIAL8CgAACyAIQYjsAWogAiAEakGAgAT8CgAADAELIAtFDQAgAyAEIAv8CgAACyAIIAs2AojrASAIIAgoAvzrATYC+OoBDAcLIAhBADYChOwBIAggCzYCiOsBIAggECAdaiICNgL46gEgCCACIAtqNgKA7AEMBgsCfwJAAkACQCADQQJ2QQNxQQFrDgMBAAIAC0EBIRAgA0EDdgwCCyAgQQJGDQhBAiEQIB0vAABBBHYMAQsgIEEESQ0HQQMhECAdLwAAIB0tAAJBEHRyQQR2CyELQbp/IQMgE0EBIAsbRQ0IIAYgC0kNBiALIBRLDQggCCATIBQgCyAGIBQgBiAUSRtBARAbIBAgHWoiAy0AACEGIAgoAvzrASEEAkAgCCgChOwBQQJGBEAgC0GAgARrIgIEQCAEIAYgAvwLAAsgCEGI7AFqIAMtAABBgIAE/AsADAELIAtFDQAgBCAGIAv8CwALIAggCzYCiOsBIAggCCgC/OsBNgL46gEgEEEBaiEKDAULQbh/IQ4MAwsgEiEOCyAFIA42AuQBIAUgDDYC6AEgBSANNgLgAQsCQCARIANrQQJJDQAgEUECayELQQAgCWtBH3EhBgNAAkAgDkEhTwRAIAVBsBo2AugBDAELIAUCfyAFKALoASIHIAUoAvABTwRAIAUgByAOQQN2ayIMNgLoAUEBISUgDkEHcQwBCyAHIAUoAuwBIgRGDQEgBSAHIA5BA3YiAiAHIARrIAcgAmsgBE8iJRsiAmsiDDYC6AEgDiACQQN0awsiDjYC5AEgBSAMKAAAIgI2AuABICVFIAMgC0tyDQAgAyAZIAIgDnQgBnZBAnRqIgIvAQA7AAAgBSAFKALkASACLQACaiIONgLkASADIAItAANqIQMMAQsLA0AgAyALSw0BIAMgGSAFKALgASAOdCAGdkECdGoiAi8BADsAACAFIAUoAuQBIAItAAJqIg42AuQBIAMgAi0AA2ohAwwACwALAkAgAyARTw0AIAMgGSAFKALgASAOdEEAIAlrdkECdGoiAi0AADoAACACLQADQQFGBEAgBSgC5AEgAi0AAmohDgwBCyAFKALkASIOQR9LDQBBICAOIAItAAJqIgIgAkEgTxshDgtBbEFsIBAgDkEgRxsgBSgC6AEgBSgC7AFHGyEOCyAIKAKE7AFBAkYEQCAIQYjsAWogCCgCgOwBQYCABGtBgIAE/AoAACAQQYCABGsiAwRAIAgoAvzrASICQeD/A2ogAiAD/AoAAAsgCCAIKAL86wFB4P8DajYC/OsBIAggCCgCgOwBQSBrNgKA7AELIA5BiH9LDQEgCCAQNgKI6wEgCEEBNgKI6gEgCCAIKAL86wE2AvjqASAaQQJGBEAgCCAIQajQAGo2AgwLIAoiA0GIf0sNAwsgCCgClOsBBH8gCCgC0OkBBUGAgAgLIQwgCiAgRg0BICAgCmshCSAIKAK06QEhCyAdICBqIQ0gCCgCpOsBIQYCfwJAAn8gCiAdaiIRLQAAIg7AIgJBAE4EQCARQQFqDAELIAJBf0YEQCAJQQNJDQUgEUEDaiEEIBEvAAFBgP4BaiEODAILIAlBAUYNBCARLQABIA5BCHRyQYCAAmshDiARQQJqCyEEIA4NAEFsIQMgBCANRw0EQQAhDiAJDAELQbh/IQMgBEEBaiIPIA1LDQMgBC0AACIKQQNxDQEgCEEQaiAIIApBBnZBI0EJIA8gDSAPa0HADUHQDkGADyAIKAKM6gEgBiAOIAhBrNUBaiIHEBwiAkGIf0sNASAIQZggaiAIQQhqIApBBHZBA3FBH0EIIAIgD2oiBCANIARrQYAKQYALQZATIAgoAozqASAIKAKk6wEgDiAHEBwiAkGIf0sNAUFsIQMgCEGgMGogCEEEaiAKQQJ2QQNxQTRBCSACIARqIgQgDSAEa0GgC0GADUGgFSAIKAKM6gEgCCgCpOsBIA4gBxAcIgJBiH9LDQMgAiAEaiARawsiA0GIf0sNAgJAIBNBAEcgFEEAR3FFIA5BAEpxDQACQAJAIBMgFCAMIAwgFEsbIgJBACACQQBKG2ogC2siAkH8//8fTQRAIAYgAkGBgIAISXIgDkEJSHINAiAFQeABaiAIKAIIIA4QHQwBCyAFQeABaiAIKAIIIA4QHSAFKALkAUEZSyEzIAYNAQsgBSgC4AFBE0shBgsgCSADayEHIAMgEWohBCAIQQA2AqTrASAIKAKE7AEhAgJAIAYEQAJ/IAJBAUYEQCAIKAL86wEMAQsgEyAUQQAgFEEAShtqCyEUIAUgCCgC+OoBIgM2AswCIAgoAoDsASEcIA5FBEAgEyEJDAILIAgoArjpASEiIAgoArTpASEXIAgoArDpASELIAhBATYCjOoBIAhBrNABaiEyIAVB1AFqISZBACECA0AgAkEDRwRAICYgAkECdCIDaiADIDJqKAIANgIAIAJBAWohAgwBCwtBbCEDIAVBqAFqIgIgBCAHEAhBiH9LDQUgBUG8AWogAiAIKAIAEB4gBUHEAWogAiAIKAIIEB4gBUHMAWogAiAIKAIEEB5BCCAOIA5BCE4bIihBACAoQQBKGyElIA5BAWshGiATIAtrIS0gBSgCsAEhAiAFKALYASEGIAUoAtQBIRIgBSgCrAEhBCAFKAK0ASEjIAUoArgBISkgBSgCyAEhGCAFKALQASErIAUoAsABISQgBSgCqAEhCSAFKALEASEhIAUoAswBISogBSgCvAEhMCAzRSEVQQAhEANAIBIhESAQICVGBEAgBSAqNgLMASAFIDA2ArwBIAUgAjYCsAEgBSAhNgLEASAFIAk2AqgBIAhBmOwBaiEeIAhBiOwFaiEZIAhBiOwBaiEWIBRBIGshGyAzRSEnIBMhCQNAIA4gJUcEQCAFKALAASAFKAK8AUEDdGoiBi0AAiEfIAUoAtABIAUoAswBQQN0aiIELQACIRggBSgCyAEgBSgCxAFBA3RqIgItAAMhKyAELQADISQgBi0AAyEVIAIvAQAhEiAELwEAIREgBi8BACEKIAIoAgQhByAGKAIEIRAgBCgCBCEMAkAgAi0AAiINQQJPBEACQCAnIA1BGUlyRQRAIAcgBSgCqAEiDyAFKAKsASICdEEFIA1rdkEFdGohBwJAIAIgDWpBBWsiAkEhTwRAIAVBsBo2ArABDAELIAUoArABIgYgBSgCuAFPBEAgBSACQQdxIgQ2AqwBIAUgBiACQQN2ayICNgKwASAFIAIoAAAiDzYCqAEgBCECDAELIAYgBSgCtAEiBEYNACAFIAIgBiAEayACQQN2IgIgBiACayAESRsiBEEDdGsiAjYCrAEgBSAGIARrIgQ2ArABIAUgBCgAACIPNgKoAQsgBSACQQVqIgY2AqwBIAcgDyACdEEbdmohDQwBCyAFIAUoAqwBIgIgDWoiBjYCrAEgBSgCqAEgAnRBACANa3YgB2ohDSAGQSFPBEAgBUGwGjYCsAEMAQsgBSgCsAEiByAFKAK4AU8EQCAFIAZBB3EiAjYCrAEgBSAHIAZBA3ZrIgQ2ArABIAUgBCgAADYCqAEgAiEGDAELIAcgBSgCtAEiBEYNACAFIAYgByAEayAGQQN2IgIgByACayAESRsiAkEDdGsiBjYCrAEgBSAHIAJrIgI2ArABIAUgAigAADYCqAELIAUpAtQBITogBSANNgLUASAFIDo3AtgBDAELIBBFIQQgDUUEQCAmIBBBAEdBAnRqKAIAIQIgBSAmIARBAnRqKAIAIg02AtQBIAUgAjYC2AEgBSgCrAEhBgwBCyAFIAUoAqwBIgJBAWoiBjYCrAECQAJAIAQgB2ogBSgCqAEgAnRBH3ZqIgRBA0YEQCAFKALUAUEBayICQX8gAhshDQwBCyAmIARBAnRqKAIAIgJBfyACGyENIARBAUYNAQsgBSAFKALYATYC3AELIAUgBSgC1AE2AtgBIAUgDTYC1AELIBggH2ohBAJAIBhFBEAgBiECDAELIAUgBiAYaiICNgKsASAFKAKoASAGdEEAIBhrdiAMaiEMCwJAIARBFEkNACACQSFPBEAgBUGwGjYCsAEMAQsgBSgCsAEiBiAFKAK4AU8EQCAFIAJBB3EiBDYCrAEgBSAGIAJBA3ZrIgI2ArABIAUgAigAADYCqAEgBCECDAELIAYgBSgCtAEiBEYNACAFIAIgBiAEayACQQN2IgIgBiACayAESRsiBEEDdGsiAjYCrAEgBSAGIARrIgQ2ArABIAUgBCgAADYCqAELAkAgH0UEQCACIQQMAQsgBSACIB9qIgQ2AqwBIAUoAqgBIAJ0QQAgH2t2IBBqIRALAkAgBEEhTwRAQbAaIQIgBUGwGjYCsAEMAQsgBSgCsAEiAiAFKAK4AU8EQCAFIARBB3EiBjYCrAEgBSACIARBA3ZrIgI2ArABIAUgAigAADYCqAEgBiEEDAELIAIgBSgCtAEiB0YNACAFIAIgAiAHayAEQQN2IgYgAiAGayAHSRsiBmsiAjYCsAEgBSAEIAZBA3RrIgQ2AqwBIAUgAigAADYCqAELAkAgGiAlRg0AIAUgFUECdEGwGWooAgAgBSgCqAEiB0EAIAQgFWoiBGt2cSAKajYCvAEgBSAkQQJ0QbAZaigCACAHQQAgBCAkaiIEa3ZxIBFqNgLMAQJAIARBIU8EQEGwGiECIAVBsBo2ArABDAELIAUoArgBIAJNBEAgBSAEQQdxIgY2AqwBIAUgAiAEQQN2ayICNgKwASAFIAIoAAAiBzYCqAEgBiEEDAELIAIgBSgCtAEiCkYNACAFIAIgAiAKayAEQQN2IgYgAiAGayAKSRsiBmsiAjYCsAEgBSAEIAZBA3RrIgQ2AqwBIAUgAigAACIHNgKoAQsgBSAEICtqIgQ2AqwBIAUgK0ECdEGwGWooAgAgB0EAIARrdnEgEmo2AsQBIARBIU8EQCAFQbAaNgKwAQwBCyAFKAK4ASACTQRAIAUgBEEHcTYCrAEgBSACIARBA3ZrIgI2ArABIAUgAigAADYCqAEMAQsgAiAFKAK0ASIGRg0AIAUgBCACIAZrIARBA3YiBCACIARrIAZJGyIEQQN0azYCrAEgBSACIARrIgI2ArABIAUgAigAADYCqAELAkACQCAIKAKE7AFBAkYEQCAFKALMAiIHIAVB4AFqICVBB3FBDGxqIhUoAgAiAmoiCiAIKAKA7AEiBEsEQCAEIAdHBEAgBCAHayIEIBQgCWtLDQsgCSAHIAQQHyAVIAIgBGsiAjYCACAEIAlqIQkLIAUgFjYCzAIgCEEANgKE7AECQAJAAkAgAkGAgARKDQAgCSAVKAIEIhIgAmoiBmogG0sNACAGQSBqIBQgCWtNDQELIAUgFSgCCDYCgAEgBSAVKQIANwN4IAkgFCAFQfgAaiAFQcwCaiAZIAsgFyAiECAhBgwBCyACIBZqIQcgAiAJaiEEIBUoAgghESAWKQAAITogCSAWKQAINwAIIAkgOjcAAAJAIAJBEUkNACAeKQAAITogCSAeKQAINwAYIAkgOjcAECACQRBrQRFIDQAgCUEgaiECIB4hDwNAIA8pABAhOiACIA8pABg3AAggAiA6NwAAIA8pACAhOiACIA8pACg3ABggAiA6NwAQIA9BIGohDyACQSBqIgIgBEkNAAsLIAQgEWshAiAFIAc2AswCIAQgC2sgEUkEQCARIAQgF2tLDQ8gIiAiIAIgC2siCmoiByASak8EQCASRQ0CIAQgByAS/AoAAAwCC0EAIAprIgIEQCAEIAcgAvwKAAALIAogEmohEiAEIAprIQQgCyECCyARQRBPBEAgAikAACE6IAQgAikACDcACCAEIDo3AAAgEkERSA0BIAQgEmohByAEQRBqIQQDQCACKQAQITogBCACKQAYNwAIIAQgOjcAACACKQAgITogBCACKQAoNwAYIAQgOjcAECACQSBqIQIgBEEgaiIEIAdJDQALDAELAkAgEUEHTQRAIAQgAi0AADoAACAEIAItAAE6AAEgBCACLQACOgACIAQgAi0AAzoAAyAEIAIgEUECdCIHQeAaaigCAGoiAigAADYABCACIAdBgBtqKAIAayECDAELIAQgAikAADcAAAsgEkEJSQ0AIAQgEmohCiAEQQhqIgcgAkEIaiICa0EPTARAA0AgByACKQAANwAAIAJBCGohAiAHQQhqIgcgCkkNAAwCCwALIAIpAAAhOiAHIAIpAAg3AAggByA6NwAAIBJBGUgNACAEQRhqIQQDQCACKQAQITogBCACKQAYNwAIIAQgOjcAACACKQAgITogBCACKQAoNwAYIAQgOjcAECACQSBqIQIgBEEgaiIEIApJDQALCyAGQYh/SwRAIAYhAwwOCyAVIA02AgggFSAMNgIEIBUgEDYCACAZIRwMAwsgCkEgayEEAkACQCAKIBxLDQAgCSAVKAIEIhEgAmoiBmogBEsNACAGQSBqIBQgCWtNDQELIAUgFSgCCDYCkAEgBSAVKQIANwOIASAJIBQgBCAFQYgBaiAFQcwCaiAcIAsgFyAiECEhBgwCCyACIAlqIQQgFSgCCCEPIAcpAAAhOiAJIAcpAAg3AAggCSA6NwAAAkAgAkERSQ0AIAcpABAhOiAJIAcpABg3ABggCSA6NwAQIAJBEGtBEUgNACAHQRBqIQIgCUEgaiEHA0AgAikAECE6IAcgAikAGDcACCAHIDo3AAAgAikAICE6IAcgAikAKDcAGCAHIDo3ABAgAkEgaiECIAdBIGoiByAESQ0ACwsgBCAPayECIAUgCjYCzAIgBCALayAPSQRAIA8gBCAXa0sNDSAiICIgAiALayIKaiIHIBFqTwRAIBFFDQMgBCAHIBH8CgAADAMLQQAgCmsiAgRAIAQgByAC/AoAAAsgCiARaiERIAQgCmshBCALIQILIA9BEE8EQCACKQAAITogBCACKQAINwAIIAQgOjcAACARQRFIDQIgBCARaiEHIARBEGohBANAIAIpABAhOiAEIAIpABg3AAggBCA6NwAAIAIpACAhOiAEIAIpACg3ABggBCA6NwAQIAJBIGohAiAEQSBqIgQgB0kNAAsMAgsCQCAPQQdNBEAgBCACLQAAOgAAIAQgAi0AAToAASAEIAItAAI6AAIgBCACLQADOgADIAQgAiAPQQJ0IgdB4BpqKAIAaiICKAAANgAEIAIgB0GAG2ooAgBrIQIMAQsgBCACKQAANwAACyARQQlJDQEgBCARaiEKIARBCGoiByACQQhqIgJrQQ9MBEADQCAHIAIpAAA3AAAgAkEIaiECIAdBCGoiByAKSQ0ADAMLAAsgAikAACE6IAcgAikACDcACCAHIDo3AAAgEUEZSA0BIARBGGohBANAIAIpABAhOiAEIAIpABg3AAggBCA6NwAAIAIpACAhOiAEIAIpACg3ABggBCA6NwAQIAJBIGohAiAEQSBqIgQgCkkNAAsMAQsCQAJAIAUoAswCIhEgBUHgAWogJUEHcUEMbGoiDygCACICaiIHIBxLDQAgCSAPKAIEIgogAmoiBmogG0sNACAGQSBqIBQgCWtNDQELIAUgDygCCDYCoAEgBSAPKQIANwOYASAJIBQgBUGYAWogBUHMAmogHCALIBcgIhAgIQYMAQsgAiAJaiEEIA8oAgghFSARKQAAITogCSARKQAINwAIIAkgOjcAAAJAIAJBEUkNACARKQAQITogCSARKQAYNwAYIAkgOjcAECACQRBrQRFIDQAgEUEQaiECIAlBIGohEgNAIAIpABAhOiASIAIpABg3AAggEiA6NwAAIAIpACAhOiASIAIpACg3ABggEiA6NwAQIAJBIGohAiASQSBqIhIgBEkNAAsLIAQgFWshAiAFIAc2AswCIAQgC2sgFUkEQCAVIAQgF2tLDQwgIiAiIAIgC2siD2oiByAKak8EQCAKRQ0CIAQgByAK/AoAAAwCC0EAIA9rIgIEQCAEIAcgAvwKAAALIAogD2ohCiAEIA9rIQQgCyECCyAVQRBPBEAgAikAACE6IAQgAikACDcACCAEIDo3AAAgCkERSA0BIAQgCmohByAEQRBqIQQDQCACKQAQITogBCACKQAYNwAIIAQgOjcAACACKQAgITogBCACKQAoNwAYIAQgOjcAECACQSBqIQIgBEEgaiIEIAdJDQALDAELAkAgFUEHTQRAIAQgAi0AADoAACAEIAItAAE6AAEgBCACLQACOgACIAQgAi0AAzoAAyAEIAIgFUECdCIHQeAaaigCAGoiAigAADYABCACIAdBgBtqKAIAayECDAELIAQgAikAADcAAAsgCkEJSQ0AIAQgCmohDyAEQQhqIgcgAkEIaiICa0EPTARAA0AgByACKQAANwAAIAJBCGohAiAHQQhqIgcgD0kNAAwCCwALIAIpAAAhOiAHIAIpAAg3AAggByA6NwAAIApBGUgNACAEQRhqIQQDQCACKQAQITogBCACKQAYNwAIIAQgOjcAACACKQAgITogBCACKQAoNwAYIAQgOjcAECACQSBqIQIgBEEgaiIEIA9JDQALCyAGQYh/SwRAIAYhAwwLCyAFQeABaiAlQQdxQQxsaiICIA02AgggAiAMNgIEIAIgEDYCAAsgBiAJaiEJICVBAWohJSAQIC1qIAxqIS0MAQsLIAUoArABIAUoArQBRw0HIAUoAqwBQSBHDQcgDiAoayEQA0ACQCAOIBBMBEBBACECA0AgAkEDRg0CIDIgAkECdCIDaiADICZqKAIANgIAIAJBAWohAgwACwALIAVB4AFqIBBBB3FBDGxqIQoCfwJAIAgoAoTsAUECRgRAIAUoAswCIg8gCigCACIEaiIHIAgoAoDsASICSwRAIAIgD0cEQCACIA9rIgIgFCAJa0sNCyAJIA8gAhAfIAogBCACayIENgIAIAIgCWohCQsgBSAWNgLMAiAIQQA2AoTsAQJAAkACQCAEQYCABEoNACAJIAooAgQiDSAEaiIGaiAbSw0AIAZBIGogFCAJa00NAQsgBSAKKAIINgJQIAUgCikCADcDSCAJIBQgBUHIAGogBUHMAmogGSALIBcgIhAgIQYMAQsgBCAWaiEHIAQgCWohDCAKKAIIIQogFikAACE6IAkgFikACDcACCAJIDo3AAACQCAEQRFJDQAgHikAACE6IAkgHikACDcAGCAJIDo3ABAgBEEQa0ERSA0AIAlBIGohAiAeIQQDQCAEKQAQITogAiAEKQAYNwAIIAIgOjcAACAEKQAgITogAiAEKQAoNwAYIAIgOjcAECAEQSBqIQQgAkEgaiICIAxJDQALCyAMIAprIQIgBSAHNgLMAiAMIAtrIApJBEAgCiAMIBdrSw0PICIgIiACIAtrIgdqIgQgDWpPBEAgDUUNAiAMIAQgDfwKAAAMAgtBACAHayICBEAgDCAEIAL8CgAACyAHIA1qIQ0gDCAHayEMIAshAgsgCkEQTwRAIAIpAAAhOiAMIAIpAAg3AAggDCA6NwAAIA1BEUgNASAMIA1qIQcgDEEQaiEEA0AgAikAECE6IAQgAikAGDcACCAEIDo3AAAgAikAICE6IAQgAikAKDcAGCAEIDo3ABAgAkEgaiECIARBIGoiBCAHSQ0ACwwBCwJAIApBB00EQCAMIAItAAA6AAAgDCACLQABOgABIAwgAi0AAjoAAiAMIAItAAM6AAMgDCACIApBAnQiBEHgGmooAgBqIgIoAAA2AAQgAiAEQYAbaigCAGshAgwBCyAMIAIpAAA3AAALIA1BCUkNACAMIA1qIQcgDEEIaiIEIAJBCGoiAmtBD0wEQANAIAQgAikAADcAACACQQhqIQIgBEEIaiIEIAdJDQAMAgsACyACKQAAITogBCACKQAINwAIIAQgOjcAACANQRlIDQAgDEEYaiEEA0AgAikAECE6IAQgAikAGDcACCAEIDo3AAAgAikAICE6IAQgAikAKDcAGCAEIDo3ABAgAkEgaiECIARBIGoiBCAHSQ0ACwsgBkGJf08EQCAGIQMMDgsgGSEcIAYgCWoMAwsgB0EgayECAkACQCAHIBxLDQAgCSAKKAIEIhIgBGoiDGogAksNACAMQSBqIBQgCWtNDQELIAUgCigCCDYCYCAFIAopAgA3A1ggCSAUIAIgBUHYAGogBUHMAmogHCALIBcgIhAhIQwMAgsgBCAJaiEGIAooAgghCiAPKQAAITogCSAPKQAINwAIIAkgOjcAAAJAIARBEUkNACAPKQAQITogCSAPKQAYNwAYIAkgOjcAECAEQRBrQRFIDQAgD0EQaiECIAlBIGohBANAIAIpABAhOiAEIAIpABg3AAggBCA6NwAAIAIpACAhOiAEIAIpACg3ABggBCA6NwAQIAJBIGohAiAEQSBqIgQgBkkNAAsLIAYgCmshAiAFIAc2AswCIAYgC2sgCkkEQCAKIAYgF2tLDQ0gIiAiIAIgC2siB2oiBCASak8EQCASRQ0DIAYgBCAS/AoAAAwDC0EAIAdrIgIEQCAGIAQgAvwKAAALIAcgEmohEiAGIAdrIQYgCyECCyAKQRBPBEAgAikAACE6IAYgAikACDcACCAGIDo3AAAgEkERSA0CIAYgEmohByAGQRBqIQQDQCACKQAQITogBCACKQAYNwAIIAQgOjcAACACKQAgITogBCACKQAoNwAYIAQgOjcAECACQSBqIQIgBEEgaiIEIAdJDQALDAILAkAgCkEHTQRAIAYgAi0AADoAACAGIAItAAE6AAEgBiACLQACOgACIAYgAi0AAzoAAyAGIAIgCkECdCIEQeAaaigCAGoiAigAADYABCACIARBgBtqKAIAayECDAELIAYgAikAADcAAAsgEkEJSQ0BIAYgEmohByAGQQhqIgQgAkEIaiICa0EPTARAA0AgBCACKQAANwAAIAJBCGohAiAEQQhqIgQgB0kNAAwDCwALIAIpAAAhOiAEIAIpAAg3AAggBCA6NwAAIBJBGUgNASAGQRhqIQQDQCACKQAQITogBCACKQAYNwAIIAQgOjcAACACKQAgITogBCACKQAoNwAYIAQgOjcAECACQSBqIQIgBEEgaiIEIAdJDQALDAELAkACQCAFKALMAiIGIAooAgAiAmoiByAcSw0AIAkgCigCBCINIAJqIgxqIBtLDQAgDEEgaiAUIAlrTQ0BCyAFIAooAgg2AnAgBSAKKQIANwNoIAkgFCAFQegAaiAFQcwCaiAcIAsgFyAiECAhDAwBCyACIAlqIQQgCigCCCEKIAYpAAAhOiAJIAYpAAg3AAggCSA6NwAAAkAgAkERSQ0AIAYpABAhOiAJIAYpABg3ABggCSA6NwAQIAJBEGtBEUgNACAGQRBqIQIgCUEgaiEGA0AgAikAECE6IAYgAikAGDcACCAGIDo3AAAgAikAICE6IAYgAikAKDcAGCAGIDo3ABAgAkEgaiECIAZBIGoiBiAESQ0ACwsgBCAKayECIAUgBzYCzAIgBCALayAKSQRAIAogBCAXa0sNDCAiICIgAiALayIHaiIGIA1qTwRAIA1FDQIgBCAGIA38CgAADAILQQAgB2siAgRAIAQgBiAC/AoAAAsgByANaiENIAQgB2shBCALIQILIApBEE8EQCACKQAAITogBCACKQAINwAIIAQgOjcAACANQRFIDQEgBCANaiEGIARBEGohBANAIAIpABAhOiAEIAIpABg3AAggBCA6NwAAIAIpACAhOiAEIAIpACg3ABggBCA6NwAQIAJBIGohAiAEQSBqIgQgBkkNAAsMAQsCQCAKQQdNBEAgBCACLQAAOgAAIAQgAi0AAToAASAEIAItAAI6AAIgBCACLQADOgADIAQgAiAKQQJ0IgZB4BpqKAIAaiICKAAANgAEIAIgBkGAG2ooAgBrIQIMAQsgBCACKQAANwAACyANQQlJDQAgBCANaiEGIARBCGoiByACQQhqIgJrQQ9MBEADQCAHIAIpAAA3AAAgAkEIaiECIAdBCGoiByAGSQ0ADAILAAsgAikAACE6IAcgAikACDcACCAHIDo3AAAgDUEZSA0AIARBGGohBANAIAIpABAhOiAEIAIpABg3AAggBCA6NwAAIAIpACAhOiAEIAIpACg3ABggBCA6NwAQIAJBIGohAiAEQSBqIgQgBkkNAAsLIAxBiH9LBEAgDCEDDAsLIAkgDGoLIQkgEEEBaiEQDAELCyAIKAKE7AEhAiAFKALMAiEDDAMFICQgMEEDdGoiBy0AAiEuICsgKkEDdGoiCi0AAiEvIBggIUEDdGoiDC0AAyEWIAotAAMhGyAHLQADIR8gDC8BACEnIAovAQAhHiAHLwEAIRkgDCgCBCENIAcoAgQhByAKKAIEIQoCQAJAIAwtAAIiEkECTwRAIAkgBHQhDCAVIBJBGUlyRQRAIAxBBSASa3ZBBXQgDWohDQJAIAQgEmpBBWsiBEEgSwRAQbAaIQIMAQsgAiApTwRAIAUgBEEHcSIMNgKsASACIARBA3ZrIgIoAAAhCSAMIQQMAQsgAiAjRg0AIAUgBCACICNrIARBA3YiBCACIARrICNJGyIMQQN0ayIENgKsASACIAxrIgIoAAAhCQsgBSAEQQVqIg82AqwBIA0gCSAEdEEbdmohEgwCCyAFIAQgEmoiDzYCrAEgDEEAIBJrdiANaiESIA9BIEsEQEGwGiECDAILIAIgKU8EQCAFIA9BB3EiBDYCrAEgAiAPQQN2ayICKAAAIQkgBCEPDAILIAIgI0YNASAFIA8gAiAjayAPQQN2IgQgAiAEayAjSRsiBEEDdGsiDzYCrAEgAiAEayICKAAAIQkMAQsgB0UhDCASRQRAICYgDEECdGooAgAhEiAmIAdBAEdBAnRqKAIAIREgBCEPDAILIAUgBEEBaiIPNgKsASANIAkgBHRBH3ZqIAxqIgxBA0YEQCARQQFrIgRBfyAEGyESDAELICYgDEECdGooAgAiBEF/IAQbIRIgDEEBRg0BCyAFIAY2AtwBCyAuIC9qIQQgBSASNgLUASAFIBE2AtgBAkAgL0UEQCAPIQwMAQsgBSAPIC9qIgw2AqwBIAkgD3RBACAva3YgCmohCgsCQCAEQRRJDQAgDEEgSwRAQbAaIQIMAQsgAiApTwRAIAUgDEEHcSIENgKsASACIAxBA3ZrIgIoAAAhCSAEIQwMAQsgAiAjRg0AIAUgDCACICNrIAxBA3YiBCACIARrICNJGyIEQQN0ayIMNgKsASACIARrIgIoAAAhCQsCQCAuRQRAIAwhBAwBCyAFIAwgLmoiBDYCrAEgCSAMdEEAIC5rdiAHaiEHCwJAIARBIEsEQEGwGiECDAELIAIgKU8EQCAFIARBB3EiBjYCrAEgAiAEQQN2ayICKAAAIQkgBiEEDAELIAIgI0YNACAFIAQgAiAjayAEQQN2IgQgAiAEayAjSRsiBkEDdGsiBDYCrAEgAiAGayICKAAAIQkLAkAgECAaRg0AIB9BAnRBsBlqKAIAIAlBACAEIB9qIgRrdnEhDyAbQQJ0QbAZaigCACAJQQAgBCAbaiIEa3ZxIQYCQAJ/AkACQCAEQSBLBEBBsBohAgwBCyACIClPBEAgBSAEQQdxIgw2AqwBIAIgBEEDdmsMAwsgAiAjRw0BCyAEIQwMAgsgBSAEIAIgI2sgBEEDdiIEIAIgBGsgI0kbIgRBA3RrIgw2AqwBIAIgBGsLIgIoAAAhCQsgDyAZaiEwIAYgHmohKiAFIAwgFmoiBjYCrAEgFkECdEGwGWooAgAgCUEAIAZrdnEgJ2ohIQJ/AkACQCAGQSBLBEBBsBohAgwBCyACIClPBEAgBSAGQQdxIgQ2AqwBIAIgBkEDdmsMAwsgAiAjRw0BCyAGIQQMAgsgBSAGIAIgI2sgBkEDdiIEIAIgBGsgI0kbIgZBA3RrIgQ2AqwBIAIgBmsLIgIoAAAhCQsgBUHgAWogEEEMbGoiBiASNgIIIAYgCjYCBCAGIAc2AgAgEEEBaiEQIAcgLWogCmohLSARIQYMAQsACwALAn8CQAJAAkAgAg4DAQIAAgsgBSAIKAL46gEiAzYCzAJBACECIBMgFEEAIBRBAEobaiEaIAgoAoDsASERAn8CQCAORQRAIBMhBwwBCyAIKAK46QEhFiAIKAK06QEhHyAIKAKw6QEhCyAIQQE2AozqASAIQazQAWohKyAFQYwCaiEbA0AgAkEDRwRAIBsgAkECdCIDaiADICtqKAIANgIAIAJBAWohAgwBCwsgBUHgAWoiAiAEIAcQCEGIf0sNByAFQfQBaiACIAgoAgAQHiAFQfwBaiACIAgoAggQHiAFQYQCaiACIAgoAgQQHiAzRSEeIBMhBwJAA0AgDkUNASAFKAL4ASAFKAL0AUEDdGoiBC0AAiEkIAUoAogCIAUoAoQCQQN0aiIDLQACIRUgBSgCgAIgBSgC/AFBA3RqIgItAAMhJyADLQADIRIgBC0AAyEcIAIvAQAhGSADLwEAIQ8gBC8BACEMIAIoAgQhBiAEKAIEIQQgAygCBCEJAkAgAi0AAiINQQJPBEACQCAeIA1BGUlyRQRAIAUoAuABIiEgBSgC5AEiAnRBBSANa3ZBBXQgBmohBgJAIAIgDWpBBWsiAkEhTwRAIAVBsBo2AugBDAELIAUoAugBIgogBSgC8AFPBEAgBSACQQdxIgM2AuQBIAUgCiACQQN2ayICNgLoASAFIAIoAAAiITYC4AEgAyECDAELIAogBSgC7AEiA0YNACAFIAIgCiADayACQQN2IgIgCiACayADSRsiA0EDdGsiAjYC5AEgBSAKIANrIgM2AugBIAUgAygAACIhNgLgAQsgBSACQQVqIgo2AuQBIAYgISACdEEbdmohDQwBCyAFIAUoAuQBIgIgDWoiCjYC5AEgBSgC4AEgAnRBACANa3YgBmohDSAKQSFPBEAgBUGwGjYC6AEMAQsgBSgC6AEiBiAFKALwAU8EQCAFIApBB3EiAjYC5AEgBSAGIApBA3ZrIgM2AugBIAUgAygAADYC4AEgAiEKDAELIAYgBSgC7AEiA0YNACAFIAogBiADayAKQQN2IgIgBiACayADSRsiAkEDdGsiCjYC5AEgBSAGIAJrIgI2AugBIAUgAigAADYC4AELIAUpAowCITogBSANNgKMAiAFIDo3ApACDAELIARFIQMgDUUEQCAbIARBAEdBAnRqKAIAIQIgBSAbIANBAnRqKAIAIg02AowCIAUgAjYCkAIgBSgC5AEhCgwBCyAFIAUoAuQBIgJBAWoiCjYC5AECQAJAIAMgBmogBSgC4AEgAnRBH3ZqIgNBA0YEQCAFKAKMAkEBayICQX8gAhshDQwBCyAbIANBAnRqKAIAIgJBfyACGyENIANBAUYNAQsgBSAFKAKQAjYClAILIAUgBSgCjAI2ApACIAUgDTYCjAILIBUgJGohAwJAIBVFBEAgCiECDAELIAUgCiAVaiICNgLkASAFKALgASAKdEEAIBVrdiAJaiEJCwJAIANBFEkNACACQSFPBEAgBUGwGjYC6AEMAQsgBSgC6AEiBiAFKALwAU8EQCAFIAJBB3EiAzYC5AEgBSAGIAJBA3ZrIgI2AugBIAUgAigAADYC4AEgAyECDAELIAYgBSgC7AEiA0YNACAFIAIgBiADayACQQN2IgIgBiACayADSRsiA0EDdGsiAjYC5AEgBSAGIANrIgM2AugBIAUgAygAADYC4AELAkAgJEUEQCACIQMMAQsgBSACICRqIgM2AuQBIAUoAuABIAJ0QQAgJGt2IARqIQQLAkAgA0EhTwRAQbAaIQIgBUGwGjYC6AEMAQsgBSgC6AEiAiAFKALwAU8EQCAFIANBB3EiBjYC5AEgBSACIANBA3ZrIgI2AugBIAUgAigAADYC4AEgBiEDDAELIAIgBSgC7AEiCkYNACAFIAIgAiAKayADQQN2IgYgAiAGayAKSRsiBmsiAjYC6AEgBSADIAZBA3RrIgM2AuQBIAUgAigAADYC4AELAkAgDkEBRg0AIAUgHEECdEGwGWooAgAgBSgC4AEiBkEAIAMgHGoiA2t2cSAMajYC9AEgBSASQQJ0QbAZaigCACAGQQAgAyASaiIDa3ZxIA9qNgKEAgJAIANBIU8EQEGwGiECIAVBsBo2AugBDAELIAUoAvABIAJNBEAgBSADQQdxIgo2AuQBIAUgAiADQQN2ayICNgLoASAFIAIoAAAiBjYC4AEgCiEDDAELIAIgBSgC7AEiCkYNACAFIAIgAiAKayADQQN2IgYgAiAGayAKSRsiBmsiAjYC6AEgBSADIAZBA3RrIgM2AuQBIAUgAigAACIGNgLgAQsgBSADICdqIgM2AuQBIAUgJ0ECdEGwGWooAgAgBkEAIANrdnEgGWo2AvwBIANBIU8EQCAFQbAaNgLoAQwBCyAFKALwASACTQRAIAUgA0EHcTYC5AEgBSACIANBA3ZrIgI2AugBIAUgAigAADYC4AEMAQsgAiAFKALsASIGRg0AIAUgAyACIAZrIANBA3YiAyACIANrIAZJGyIDQQN0azYC5AEgBSACIANrIgI2AugBIAUgAigAADYC4AELIAUoAswCIgwgBGoiCiAIKAKA7AEiAk0EQCAKQSBrIQIgBSAENgKoASAFIAk2AqwBIAUgDTYCsAECQAJAAkAgCiARSw0AIAcgBCAJaiIDaiACSw0AIANBIGogGiAHa00NAQsgBUFAayAFKAKwATYCACAFIAUpA6gBNwM4IAcgGiACIAVBOGogBUHMAmogESALIB8gFhAhIQMMAQsgBCAHaiEGIAwpAAAhOiAHIAwpAAg3AAggByA6NwAAAkAgBEERSQ0AIAwpABAhOiAHIAwpABg3ABggByA6NwAQIARBEGtBEUgNACAMQRBqIQIgB0EgaiEEA0AgAikAECE6IAQgAikAGDcACCAEIDo3AAAgAikAICE6IAQgAikAKDcAGCAEIDo3ABAgAkEgaiECIARBIGoiBCAGSQ0ACwsgBiANayECIAUgCjYCzAIgBiALayANSQRAIA0gBiAfa0sNDCAWIBYgAiALayIKaiIEIAlqTwRAIAlFDQIgBiAEIAn8CgAADAILQQAgCmsiAgRAIAYgBCAC/AoAAAsgBSAJIApqIgk2AqwBIAYgCmshBiALIQILIA1BEE8EQCACKQAAITogBiACKQAINwAIIAYgOjcAACAJQRFIDQEgBiAJaiEKIAZBEGohBANAIAIpABAhOiAEIAIpABg3AAggBCA6NwAAIAIpACAhOiAEIAIpACg3ABggBCA6NwAQIAJBIGohAiAEQSBqIgQgCkkNAAsMAQsCQCANQQdNBEAgBiACLQAAOgAAIAYgAi0AAToAASAGIAItAAI6AAIgBiACLQADOgADIAYgAiANQQJ0IgRB4BpqKAIAaiICKAAANgAEIAIgBEGAG2ooAgBrIQIMAQsgBiACKQAANwAACyAJQQlJDQAgBiAJaiEKIAZBCGoiBCACQQhqIgJrQQ9MBEADQCAEIAIpAAA3AAAgAkEIaiECIARBCGoiBCAKSQ0ADAILAAsgAikAACE6IAQgAikACDcACCAEIDo3AAAgCUEZSA0AIAZBGGohBANAIAIpABAhOiAEIAIpABg3AAggBCA6NwAAIAIpACAhOiAEIAIpACg3ABggBCA6NwAQIAJBIGohAiAEQSBqIgQgCkkNAAsLIANBiH9LDQwgDkEBayEOIAMgB2ohBwwBCwsgDkEATA0IIAIgDEcEQEG6fyEDIAIgDGsiAiAaIAdrSw0LIAcgDCACEB8gAiAHaiEHIAQgAmshBAsgBSAIQYjsAWoiAjYCzAIgCEEANgKE7AEgCEGI7AVqIREgBSAENgKoASAFIAk2AqwBIAUgDTYCsAECQAJAAkAgBEGAgARKDQAgByAEIAlqIgNqIBpBIGtLDQAgA0EgaiAaIAdrTQ0BCyAFIAUoArABNgIwIAUgBSkDqAE3AyggByAaIAVBKGogBUHMAmogESALIB8gFhAgIQMMAQsgAiAEaiEKIAQgB2ohBiACKQAAITogByACKQAINwAIIAcgOjcAAAJAIARBEUkNACAIKQCY7AEhOiAHIAhBoOwBaikAADcAGCAHIDo3ABAgBEEQa0ERSA0AIAhBmOwBaiECIAdBIGohBANAIAIpABAhOiAEIAIpABg3AAggBCA6NwAAIAIpACAhOiAEIAIpACg3ABggBCA6NwAQIAJBIGohAiAEQSBqIgQgBkkNAAsLIAYgDWshAiAFIAo2AswCIAYgC2sgDUkEQCANIAYgH2tLDQogFiAWIAIgC2siCmoiBCAJak8EQCAJRQ0CIAYgBCAJ/AoAAAwCC0EAIAprIgIEQCAGIAQgAvwKAAALIAUgCSAKaiIJNgKsASAGIAprIQYgCyECCyANQRBPBEAgAikAACE6IAYgAikACDcACCAGIDo3AAAgCUERSA0BIAYgCWohCiAGQRBqIQQDQCACKQAQITogBCACKQAYNwAIIAQgOjcAACACKQAgITogBCACKQAoNwAYIAQgOjcAECACQSBqIQIgBEEgaiIEIApJDQALDAELAkAgDUEHTQRAIAYgAi0AADoAACAGIAItAAE6AAEgBiACLQACOgACIAYgAi0AAzoAAyAGIAIgDUECdCIEQeAaaigCAGoiAigAADYABCACIARBgBtqKAIAayECDAELIAYgAikAADcAAAsgCUEJSQ0AIAYgCWohCiAGQQhqIgQgAkEIaiICa0EPTARAA0AgBCACKQAANwAAIAJBCGohAiAEQQhqIgQgCkkNAAwCCwALIAIpAAAhOiAEIAIpAAg3AAggBCA6NwAAIAlBGUgNACAGQRhqIQQDQCACKQAQITogBCACKQAYNwAIIAQgOjcAACACKQAgITogBCACKQAoNwAYIAQgOjcAECACQSBqIQIgBEEgaiIEIApJDQALCyADQYh/Sw0KIAMgB2ohByAOQQFrIgpFDQAgGkEgayESIDNFIRwDQCAFKAL4ASAFKAL0AUEDdGoiBC0AAiEJIAUoAogCIAUoAoQCQQN0aiIDLQACIQwgBSgCgAIgBSgC/AFBA3RqIgItAAMhJCADLQADIRUgBC0AAyEnIAIvAQAhHiADLwEAIRkgBC8BACEPIAIoAgQhBiAEKAIEIQQgAygCBCEOAkAgAi0AAiIYQQJPBEACQCAcIBhBGUlyRQRAIAUoAuABIiogBSgC5AEiAnRBBSAYa3ZBBXQgBmohBgJAIAIgGGpBBWsiAkEhTwRAIAVBsBo2AugBDAELIAUoAugBIg0gBSgC8AFPBEAgBSACQQdxIgM2AuQBIAUgDSACQQN2ayICNgLoASAFIAIoAAAiKjYC4AEgAyECDAELIA0gBSgC7AEiA0YNACAFIAIgDSADayACQQN2IgIgDSACayADSRsiA0EDdGsiAjYC5AEgBSANIANrIgM2AugBIAUgAygAACIqNgLgAQsgBSACQQVqIg02AuQBIAYgKiACdEEbdmohBgwBCyAFIAUoAuQBIgIgGGoiDTYC5AEgBSgC4AEgAnRBACAYa3YgBmohBiANQSFPBEAgBUGwGjYC6AEMAQsgBSgC6AEiGCAFKALwAU8EQCAFIA1BB3EiAjYC5AEgBSAYIA1BA3ZrIgM2AugBIAUgAygAADYC4AEgAiENDAELIBggBSgC7AEiA0YNACAFIA0gGCADayANQQN2IgIgGCACayADSRsiAkEDdGsiDTYC5AEgBSAYIAJrIgI2AugBIAUgAigAADYC4AELIAUpAowCITogBSAGNgKMAiAFIDo3ApACDAELIARFIQMgGEUEQCAbIARBAEdBAnRqKAIAIQIgBSAbIANBAnRqKAIAIgY2AowCIAUgAjYCkAIgBSgC5AEhDQwBCyAFIAUoAuQBIgJBAWoiDTYC5AECQAJAIAMgBmogBSgC4AEgAnRBH3ZqIgNBA0YEQCAFKAKMAkEBayICQX8gAhshBgwBCyAbIANBAnRqKAIAIgJBfyACGyEGIANBAUYNAQsgBSAFKAKQAjYClAILIAUgBSgCjAI2ApACIAUgBjYCjAILIAkgDGohAwJAIAxFBEAgDSECDAELIAUgDCANaiICNgLkASAFKALgASANdEEAIAxrdiAOaiEOCwJAIANBFEkNACACQSFPBEAgBUGwGjYC6AEMAQsgBSgC6AEiDCAFKALwAU8EQCAFIAJBB3EiAzYC5AEgBSAMIAJBA3ZrIgI2AugBIAUgAigAADYC4AEgAyECDAELIAwgBSgC7AEiA0YNACAFIAIgDCADayACQQN2IgIgDCACayADSRsiA0EDdGsiAjYC5AEgBSAMIANrIgM2AugBIAUgAygAADYC4AELAkAgCUUEQCACIQMMAQsgBSACIAlqIgM2AuQBIAUoAuABIAJ0QQAgCWt2IARqIQQLAkAgA0EhTwRAQbAaIQIgBUGwGjYC6AEMAQsgBSgC6AEiAiAFKALwAU8EQCAFIANBB3EiDDYC5AEgBSACIANBA3ZrIgI2AugBIAUgAigAADYC4AEgDCEDDAELIAIgBSgC7AEiCUYNACAFIAIgAiAJayADQQN2IgwgAiAMayAJSRsiDGsiAjYC6AEgBSADIAxBA3RrIgM2AuQBIAUgAigAADYC4AELAkAgCkEBRg0AIAUgJ0ECdEGwGWooAgAgBSgC4AEiCUEAIAMgJ2oiA2t2cSAPajYC9AEgBSAVQQJ0QbAZaigCACAJQQAgAyAVaiIDa3ZxIBlqNgKEAgJAIANBIU8EQEGwGiECIAVBsBo2AugBDAELIAUoAvABIAJNBEAgBSADQQdxIgw2AuQBIAUgAiADQQN2ayICNgLoASAFIAIoAAAiCTYC4AEgDCEDDAELIAIgBSgC7AEiD0YNACAFIAIgAiAPayADQQN2IgwgAiAMayAPSRsiDGsiAjYC6AEgBSADIAxBA3RrIgM2AuQBIAUgAigAACIJNgLgAQsgBSADICRqIgM2AuQBIAUgJEECdEGwGWooAgAgCUEAIANrdnEgHmo2AvwBIANBIU8EQCAFQbAaNgLoAQwBCyAFKALwASACTQRAIAUgA0EHcTYC5AEgBSACIANBA3ZrIgI2AugBIAUgAigAADYC4AEMAQsgAiAFKALsASIMRg0AIAUgAyACIAxrIANBA3YiAyACIANrIAxJGyIDQQN0azYC5AEgBSACIANrIgI2AugBIAUgAigAADYC4AELIAUgBDYCqAEgBSAONgKsASAFIAY2ArABAkACQAJAIAUoAswCIgIgBGoiDCARSw0AIAcgBCAOaiIDaiASSw0AIANBIGogGiAHa00NAQsgBSAFKAKwATYCICAFIAUpA6gBNwMYIAcgGiAFQRhqIAVBzAJqIBEgCyAfIBYQICEDDAELIAQgB2ohCSACKQAAITogByACKQAINwAIIAcgOjcAAAJAIARBEUkNACACKQAQITogByACKQAYNwAYIAcgOjcAECAEQRBrQRFIDQAgAkEQaiECIAdBIGohBANAIAIpABAhOiAEIAIpABg3AAggBCA6NwAAIAIpACAhOiAEIAIpACg3ABggBCA6NwAQIAJBIGohAiAEQSBqIgQgCUkNAAsLIAkgBmshAiAFIAw2AswCIAkgC2sgBkkEQCAGIAkgH2tLDQsgFiAWIAIgC2siDGoiBCAOak8EQCAORQ0CIAkgBCAO/AoAAAwCC0EAIAxrIgIEQCAJIAQgAvwKAAALIAUgDCAOaiIONgKsASAJIAxrIQkgCyECCyAGQRBPBEAgAikAACE6IAkgAikACDcACCAJIDo3AAAgDkERSA0BIAkgDmohBiAJQRBqIQQDQCACKQAQITogBCACKQAYNwAIIAQgOjcAACACKQAgITogBCACKQAoNwAYIAQgOjcAECACQSBqIQIgBEEgaiIEIAZJDQALDAELAkAgBkEHTQRAIAkgAi0AADoAACAJIAItAAE6AAEgCSACLQACOgACIAkgAi0AAzoAAyAJIAIgBkECdCIEQeAaaigCAGoiAigAADYABCACIARBgBtqKAIAayECDAELIAkgAikAADcAAAsgDkEJSQ0AIAkgDmohBiAJQQhqIgQgAkEIaiICa0EPTARAA0AgBCACKQAANwAAIAJBCGohAiAEQQhqIgQgBkkNAAwCCwALIAIpAAAhOiAEIAIpAAg3AAggBCA6NwAAIA5BGUgNACAJQRhqIQQDQCACKQAQITogBCACKQAYNwAIIAQgOjcAACACKQAgITogBCACKQAoNwAYIAQgOjcAECACQSBqIQIgBEEgaiIEIAZJDQALCyADQYh/Sw0LIAMgB2ohByAKQQFrIgoNAAsLIAUoAugBIAUoAuwBRw0HQWwhAyAFKALkAUEgRw0JQQAhAgNAIAJBA0cEQCArIAJBAnQiA2ogAyAbaigCADYCACACQQFqIQIMAQsLIAUoAswCIgMgCCgChOwBQQJHDQEaCyARIANrIgIgGiAHa0sNBUEAIQQgBwRAIAIEQCAHIAMgAvwKAAALIAIgB2ohBAsgCEEANgKE7AEgCEGI7AVqIREgBCEHIAhBiOwBagshAiARIAJrIgMgGiAHa0sNBCAHBH8gAwRAIAcgAiAD/AoAAAsgAyAHagVBAAsgE2shAwwHCyATIBRBACAUQQBKG2oMAQsgCCgC/OsBCyEWIAUgCCgC+OoBIgI2AswCIAIgCCgCiOsBaiEfAkAgDkUEQCATIQkMAQsgCCgCuOkBIRggCCgCtOkBISsgCCgCsOkBIQwgCEEBNgKM6gEgCEGs0AFqISQgBUGMAmohGkEAIQIDQCACQQNHBEAgGiACQQJ0IgNqIAMgJGooAgA2AgAgAkEBaiECDAELC0FsIQMgBUHgAWoiAiAEIAcQCEGIf0sNBSAFQfQBaiACIAgoAgAQHiAFQfwBaiACIAgoAggQHiAFQYQCaiACIAgoAgQQHiAWQSBrIRwgM0UhHiATIQkDQCAOBEAgBSgC+AEgBSgC9AFBA3RqIgItAAIhGyAFKAKIAiAFKAKEAkEDdGoiBC0AAiENIAUoAoACIAUoAvwBQQN0aiIGLQADIRUgBC0AAyEnIAItAAMhEiAGLwEAIRkgBC8BACERIAIvAQAhDyAGKAIEIQcgAigCBCECIAQoAgQhBAJAIAYtAAIiKEECTwRAAkAgHiAoQRlJckUEQCAFKALgASIhIAUoAuQBIgZ0QQUgKGt2QQV0IAdqIQcCQCAGIChqQQVrIgZBIU8EQCAFQbAaNgLoAQwBCyAFKALoASIKIAUoAvABTwRAIAUgBkEHcSILNgLkASAFIAogBkEDdmsiBjYC6AEgBSAGKAAAIiE2AuABIAshBgwBCyAKIAUoAuwBIgtGDQAgBSAGIAogC2sgBkEDdiIGIAogBmsgC0kbIgtBA3RrIgY2AuQBIAUgCiALayILNgLoASAFIAsoAAAiITYC4AELIAUgBkEFaiIKNgLkASAHICEgBnRBG3ZqIRAMAQsgBSAFKALkASIGIChqIgo2AuQBIAUoAuABIAZ0QQAgKGt2IAdqIRAgCkEhTwRAIAVBsBo2AugBDAELIAUoAugBIgcgBSgC8AFPBEAgBSAKQQdxIgY2AuQBIAUgByAKQQN2ayILNgLoASAFIAsoAAA2AuABIAYhCgwBCyAHIAUoAuwBIgtGDQAgBSAKIAcgC2sgCkEDdiIGIAcgBmsgC0kbIgZBA3RrIgo2AuQBIAUgByAGayIGNgLoASAFIAYoAAA2AuABCyAFKQKMAiE6IAUgEDYCjAIgBSA6NwKQAgwBCyACRSELIChFBEAgGiACQQBHQQJ0aigCACEGIAUgGiALQQJ0aigCACIQNgKMAiAFIAY2ApACIAUoAuQBIQoMAQsgBSAFKALkASIGQQFqIgo2AuQBAkACQCAHIAtqIAUoAuABIAZ0QR92aiILQQNGBEAgBSgCjAJBAWsiBkF/IAYbIRAMAQsgGiALQQJ0aigCACIGQX8gBhshECALQQFGDQELIAUgBSgCkAI2ApQCCyAFIAUoAowCNgKQAiAFIBA2AowCCyANIBtqIQsCQCANRQRAIAohBgwBCyAFIAogDWoiBjYC5AEgBSgC4AEgCnRBACANa3YgBGohBAsCQCALQRRJDQAgBkEhTwRAIAVBsBo2AugBDAELIAUoAugBIgcgBSgC8AFPBEAgBSAGQQdxIgs2AuQBIAUgByAGQQN2ayIGNgLoASAFIAYoAAA2AuABIAshBgwBCyAHIAUoAuwBIgtGDQAgBSAGIAcgC2sgBkEDdiIGIAcgBmsgC0kbIgtBA3RrIgY2AuQBIAUgByALayILNgLoASAFIAsoAAA2AuABCwJAIBtFBEAgBiEHDAELIAUgBiAbaiIHNgLkASAFKALgASAGdEEAIBtrdiACaiECCwJAIAdBIU8EQEGwGiEGIAVBsBo2AugBDAELIAUoAugBIgYgBSgC8AFPBEAgBSAHQQdxIgs2AuQBIAUgBiAHQQN2ayIGNgLoASAFIAYoAAA2AuABIAshBwwBCyAGIAUoAuwBIgpGDQAgBSAGIAYgCmsgB0EDdiILIAYgC2sgCkkbIgtrIgY2AugBIAUgByALQQN0ayIHNgLkASAFIAYoAAA2AuABCwJAIA5BAUYNACAFIBJBAnRBsBlqKAIAIAUoAuABIg1BACAHIBJqIgtrdnEgD2o2AvQBIAUgJ0ECdEGwGWooAgAgDUEAIAsgJ2oiB2t2cSARajYChAICQCAHQSFPBEBBsBohBiAFQbAaNgLoAQwBCyAFKALwASAGTQRAIAUgB0EHcSILNgLkASAFIAYgB0EDdmsiBjYC6AEgBSAGKAAAIg02AuABIAshBwwBCyAGIAUoAuwBIgpGDQAgBSAGIAYgCmsgB0EDdiILIAYgC2sgCkkbIgtrIgY2AugBIAUgByALQQN0ayIHNgLkASAFIAYoAAAiDTYC4AELIAUgByAVaiILNgLkASAFIBVBAnRBsBlqKAIAIA1BACALa3ZxIBlqNgL8ASALQSFPBEAgBUGwGjYC6AEMAQsgBSgC8AEgBk0EQCAFIAtBB3E2AuQBIAUgBiALQQN2ayIGNgLoASAFIAYoAAA2AuABDAELIAYgBSgC7AEiB0YNACAFIAsgBiAHayALQQN2IgsgBiALayAHSRsiC0EDdGs2AuQBIAUgBiALayIGNgLoASAFIAYoAAA2AuABCyAFIAI2AqgBIAUgBDYCrAEgBSAQNgKwAQJAAkACQCAFKALMAiIGIAJqIgsgH0sNACAJIAIgBGoiDWogHEsNACANQSBqIBYgCWtNDQELIAUgBSgCsAE2AhAgBSAFKQOoATcDCCAJIBYgBUEIaiAFQcwCaiAfIAwgKyAYECAhDQwBCyACIAlqIQcgBikAACE6IAkgBikACDcACCAJIDo3AAACQCACQRFJDQAgBikAECE6IAkgBikAGDcAGCAJIDo3ABAgAkEQa0ERSA0AIAZBEGohBiAJQSBqIQIDQCAGKQAQITogAiAGKQAYNwAIIAIgOjcAACAGKQAgITogAiAGKQAoNwAYIAIgOjcAECAGQSBqIQYgAkEgaiICIAdJDQALCyAHIBBrIQYgBSALNgLMAiAHIAxrIBBJBEAgECAHICtrSw0JIBggGCAGIAxrIgtqIgYgBGpPBEAgBEUNAiAHIAYgBPwKAAAMAgtBACALayICBEAgByAGIAL8CgAACyAFIAQgC2oiBDYCrAEgByALayEHIAwhBgsgEEEQTwRAIAYpAAAhOiAHIAYpAAg3AAggByA6NwAAIARBEUgNASAEIAdqIQQgB0EQaiECA0AgBikAECE6IAIgBikAGDcACCACIDo3AAAgBikAICE6IAIgBikAKDcAGCACIDo3ABAgBkEgaiEGIAJBIGoiAiAESQ0ACwwBCwJAIBBBB00EQCAHIAYtAAA6AAAgByAGLQABOgABIAcgBi0AAjoAAiAHIAYtAAM6AAMgByAGIBBBAnQiC0HgGmooAgBqIgIoAAA2AAQgAiALQYAbaigCAGshBgwBCyAHIAYpAAA3AAALIARBCUkNACAEIAdqIQsgB0EIaiICIAZBCGoiBmtBD0wEQANAIAIgBikAADcAACAGQQhqIQYgAkEIaiICIAtJDQAMAgsACyAGKQAAITogAiAGKQAINwAIIAIgOjcAACAEQRlIDQAgB0EYaiECA0AgBikAECE6IAIgBikAGDcACCACIDo3AAAgBikAICE6IAIgBikAKDcAGCACIDo3ABAgBkEgaiEGIAJBIGoiAiALSQ0ACwsgDUGIf0sEQCANIQMMCAUgDkEBayEOIAkgDWohCQwCCwALCyAFKALoASAFKALsAUcNBSAFKALkAUEgRw0FQQAhBgNAIAZBA0cEQCAkIAZBAnQiAmogAiAaaigCADYCACAGQQFqIQYMAQsLIAUoAswCIQILQbp/IQMgHyACayIEIBYgCWtLDQQgCQR/IAQEQCAJIAIgBPwKAAALIAQgCWoFQQALIBNrIQMMBAsgAkECRgRAIBwgA2siAiAUIAlrSw0BIAkEfyACBEAgCSADIAL8CgAACyACIAlqBUEACyEJIAhBiOwFaiEcIAhBiOwBaiEDCyAcIANrIgIgFCAJa0sNACAJBH8gAgRAIAkgAyAC/AoAAAsgAiAJagVBAAsgE2shAwwDC0G6fyEDDAILQWwhAwwBC0G4fyEDCyAFQdACaiQAIAMhBAwECyAgIDUgE2tLDQkgE0UEQCAgDQIMBQsgICIERQ0FIBMgHSAE/AoAAAwFCyAxKAIMIgQgAiATa0sNCCATDQEgBEUNAwtBtn8hBAwJCyAERQ0AIBMgHS0AACAE/AsACyAEQYh/Sw0HDAELQQAhBAsCQCAIKAL06gFFIBNFcg0AIAggCCkDkOoBIAStfDcDkOoBIAgoAtjqASIGIARqQR9NBEAgBARAIAYgNGogEyAE/AoAAAsgCCAIKALY6gEgBGo2AtjqAQwBCyATIQMgBgRAQSAgBmsiAgRAIAYgNGogAyAC/AoAAAsgCCgC2OoBIQIgCEEANgLY6gEgCCAIKQOY6gEgCCkAuOoBQs/W077Sx6vZQn58Qh+JQoeVr6+Ytt6bnn9+NwOY6gEgCCAIKQOg6gEgCCkAwOoBQs/W077Sx6vZQn58Qh+JQoeVr6+Ytt6bnn9+NwOg6gEgCCAIKQOo6gEgCCkAyOoBQs/W077Sx6vZQn58Qh+JQoeVr6+Ytt6bnn9+NwOo6gEgCCAIKQOw6gEgCCkA0OoBQs/W077Sx6vZQn58Qh+JQoeVr6+Ytt6bnn9+NwOw6gEgEyACa0EgaiEDCyAEIBNqIgYgA0Egak8EQCAGQSBrIQIgCCkDsOoBITsgCCkDqOoBITwgCCkDoOoBIT0gCCkDmOoBIToDQCAIIAMpAABCz9bTvtLHq9lCfiA6fEIfiUKHla+vmLbem55/fiI6NwOY6gEgCCADKQAIQs/W077Sx6vZQn4gPXxCH4lCh5Wvr5i23puef34iPTcDoOoBIAggAykAEELP1tO+0ser2UJ+IDx8Qh+JQoeVr6+Ytt6bnn9+Ijw3A6jqASAIIAMpABhCz9bTvtLHq9lCfiA7fEIfiUKHla+vmLbem55/fiI7NwOw6gEgA0EgaiIDIAJNDQALCyADIAZPDQAgBiADayICBEAgNCADIAL8CgAACyAIIAI2AtjqAQsgOCAgayEDIB0gIGohAiAEIBNqIRMgMSgCCEUNAAsgNikDACI6Qn9RIDogEyAsa6xRckUEQEFsIQYMBgsgCCgC4OkBBEBBaiEGIANBBEkNBiAIKALw6gFFBEAgAigAAAJ+IDcpAwAiPkIgWgRAIAgpA6DqASI7QgeJIAgpA5jqASI8QgGJfCAIKQOo6gEiPUIMiXwgCCkDsOoBIjpCEol8IDxCz9bTvtLHq9lCfkIfiUKHla+vmLbem55/foVCh5Wvr5i23puef35CnaO16oOxjYr6AH0gO0LP1tO+0ser2UJ+Qh+JQoeVr6+Ytt6bnn9+hUKHla+vmLbem55/fkKdo7Xqg7GNivoAfSA9Qs/W077Sx6vZQn5CH4lCh5Wvr5i23puef36FQoeVr6+Ytt6bnn9+Qp2jteqDsY2K+gB9IDpCz9bTvtLHq9lCfkIfiUKHla+vmLbem55/foVCh5Wvr5i23puef35CnaO16oOxjYr6AH0MAQsgCCkDqOoBQsXP2bLx5brqJ3wLID58IDQgPqcQIqdHDQcLIANBBGshAyACQQRqIQILIBMgLGsiBEGJf08NBCABIARrIQEgBCAsaiEsQQEhOQwBCwsgAwRAQbh/IQYMBAsgLCAAayEGDAMLQbp/IQQMAQtBuH8hBAtBuH8gBCAEQXZGGyAEIDkbIQYLIAgoApDrAQ0AIAgoAoTrASECIAgoAoDrASEDIAgQFiAIKALA6wEgAyACEBUgCEEANgLA6wEgCCgCrOsBIgEEQAJAAkACQAJAIAEoAgAiAARAIANFDQIgAiAAIAMRAgAMAQsgA0UNAgsgAiABIAMRAgAMAgsgABACCyABEAILIAhBADYCrOsBCyADBEAgAiAIIAMRAgAMAQsgCBACCyAxQRBqJAAgBgsKACAABEAQJgALCwMAAAsLzRIKAEGICAsFAQAAAAEAQZgIC9sEAQAAAAEAAACWAAAA2AAAAH0BAAB3AAAAqgAAAM0AAAACAgAAcAAAALEAAADHAAAAGwIAAG4AAADFAAAAwgAAAIQCAABrAAAA3QAAAMAAAADfAgAAawAAAAABAAC9AAAAcQMAAGoAAABnAQAAvAAAAI8EAABtAAAARgIAALsAAAAiBgAAcgAAALACAAC7AAAAsAYAAHoAAAA5AwAAugAAAK0HAACIAAAA0AMAALkAAABTCAAAlgAAAJwEAAC6AAAAFggAAK8AAABhBQAAuQAAAMMGAADKAAAAhAUAALkAAACfBgAAygAAAAAAAAABAAAAAQAAAAUAAAANAAAAHQAAAD0AAAB9AAAA/QAAAP0BAAD9AwAA/QcAAP0PAAD9HwAA/T8AAP1/AAD9/wAA/f8BAP3/AwD9/wcA/f8PAP3/HwD9/z8A/f9/AP3//wD9//8B/f//A/3//wf9//8P/f//H/3//z/9//9/AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8DAAAABAAAAAUAAAAGAAAABwAAAAgAAAAJAAAACgAAAAsAAAAMAAAADQAAAA4AAAAPAAAAEAAAABEAAAASAAAAEwAAABQAAAAVAAAAFgAAABcAAAAYAAAAGQAAABoAAAAbAAAAHAAAAB0AAAAeAAAAHwAAACAAAAAhAAAAIgAAACMAAAAlAAAAJwAAACkAAAArAAAALwAAADMAAAA7AAAAQwAAAFMAAABjAAAAgwAAAAMBAAADAgAAAwQAAAMIAAADEAAAAyAAAANAAAADgAAAAwABAEGgDQsVAQEBAQICAwMEBAUHCAkKCwwNDg8QAEHEDQuLAQEAAAACAAAAAwAAAAQAAAAFAAAABgAAAAcAAAAIAAAACQAAAAoAAAALAAAADAAAAA0AAAAOAAAADwAAABAAAAASAAAAFAAAABYAAAAYAAAAHAAAACAAAAAoAAAAMAAAAEAAAACAAAAAAAEAAAACAAAABAAAAAgAAAAQAAAAIAAAAEAAAACAAAAAAAEAQeAOC6YEAQEBAQICAwMEBgcICQoLDA0ODxABAAAABAAAAAgAAAABAAEBBgAAAAAAAAQAAAAAEAAABAAAAAAgAAAFAQAAAAAAAAUDAAAAAAAABQQAAAAAAAAFBgAAAAAAAAUHAAAAAAAABQkAAAAAAAAFCgAAAAAAAAUMAAAAAAAABg4AAAAAAAEFEAAAAAAAAQUUAAAAAAABBRYAAAAAAAIFHAAAAAAAAwUgAAAAAAAEBTAAAAAgAAYFQAAAAAAABwWAAAAAAAAIBgABAAAAAAoGAAQAAAAADAYAEAAAIAAABAAAAAAAAAAEAQAAAAAAAAUCAAAAIAAABQQAAAAAAAAFBQAAACAAAAUHAAAAAAAABQgAAAAgAAAFCgAAAAAAAAULAAAAAAAABg0AAAAgAAEFEAAAAAAAAQUSAAAAIAABBRYAAAAAAAIFGAAAACAAAwUgAAAAAAADBSgAAAAAAAYEQAAAABAABgRAAAAAIAAHBYAAAAAAAAkGAAIAAAAACwYACAAAMAAABAAAAAAQAAAEAQAAACAAAAUCAAAAIAAABQMAAAAgAAAFBQAAACAAAAUGAAAAIAAABQgAAAAgAAAFCQAAACAAAAULAAAAIAAABQwAAAAAAAAGDwAAACAAAQUSAAAAIAABBRQAAAAgAAIFGAAAACAAAgUcAAAAIAADBSgAAAAgAAQFMAAAAAAAEAYAAAEAAAAPBgCAAAAAAA4GAEAAAAAADQYAIABBkBMLhwIBAAEBBQAAAAAAAAUAAAAAAAAGBD0AAAAAAAkF/QEAAAAADwX9fwAAAAAVBf3/HwAAAAMFBQAAAAAABwR9AAAAAAAMBf0PAAAAABIF/f8DAAAAFwX9/38AAAAFBR0AAAAAAAgE/QAAAAAADgX9PwAAAAAUBf3/DwAAAAIFAQAAABAABwR9AAAAAAALBf0HAAAAABEF/f8BAAAAFgX9/z8AAAAEBQ0AAAAQAAgE/QAAAAAADQX9HwAAAAATBf3/BwAAAAEFAQAAABAABgQ9AAAAAAAKBf0DAAAAABAF/f8AAAAAHAX9//8PAAAbBf3//wcAABoF/f//AwAAGQX9//8BAAAYBf3//wBBoBULhgQBAAEBBgAAAAAAAAYDAAAAAAAABAQAAAAgAAAFBQAAAAAAAAUGAAAAAAAABQgAAAAAAAAFCQAAAAAAAAULAAAAAAAABg0AAAAAAAAGEAAAAAAAAAYTAAAAAAAABhYAAAAAAAAGGQAAAAAAAAYcAAAAAAAABh8AAAAAAAAGIgAAAAAAAQYlAAAAAAABBikAAAAAAAIGLwAAAAAAAwY7AAAAAAAEBlMAAAAAAAcGgwAAAAAACQYDAgAAEAAABAQAAAAAAAAEBQAAACAAAAUGAAAAAAAABQcAAAAgAAAFCQAAAAAAAAUKAAAAAAAABgwAAAAAAAAGDwAAAAAAAAYSAAAAAAAABhUAAAAAAAAGGAAAAAAAAAYbAAAAAAAABh4AAAAAAAAGIQAAAAAAAQYjAAAAAAABBicAAAAAAAIGKwAAAAAAAwYzAAAAAAAEBkMAAAAAAAUGYwAAAAAACAYDAQAAIAAABAQAAAAwAAAEBAAAABAAAAQFAAAAIAAABQcAAAAgAAAFCAAAACAAAAUKAAAAIAAABQsAAAAAAAAGDgAAAAAAAAYRAAAAAAAABhQAAAAAAAAGFwAAAAAAAAYaAAAAAAAABh0AAAAAAAAGIAAAAAAAEAYDAAEAAAAPBgOAAAAAAA4GA0AAAAAADQYDIAAAAAAMBgMQAAAAAAsGAwgAAAAACgYDBABBtBkLfAEAAAADAAAABwAAAA8AAAAfAAAAPwAAAH8AAAD/AAAA/wEAAP8DAAD/BwAA/w8AAP8fAAD/PwAA/38AAP//AAD//wEA//8DAP//BwD//w8A//8fAP//PwD//38A////AP///wH///8D////B////w////8f////P////38AQcQaC1kBAAAAAgAAAAQAAAAAAAAAAgAAAAQAAAAIAAAAAAAAAAEAAAACAAAAAQAAAAQAAAAEAAAABAAAAAQAAAAIAAAACAAAAAgAAAAHAAAACAAAAAkAAAAKAAAACwBBoBsLA6APAQ==\";\n\n  // page/src/unpack.js\n  async function decode(text) {\n    if (\"fromBase64\" in Uint8Array) return (\n      /** @type {any} */\n      Uint8Array.fromBase64(text)\n    );\n    const answer = await fetch(`data:application/zstd;base64,${text}`);\n    return new Uint8Array(await answer.arrayBuffer());\n  }\n  async function unpack(text) {\n    const decoder = new ZSTDDecoder();\n    const [packed] = await Promise.all([decode(text), decoder.init()]);\n    const bytes = decoder.decode(packed);\n    if (!bytes.length) throw new Error(\"it is no Zstandard\");\n    return (\n      /** @type {Uint8Array<ArrayBuffer>} */\n      bytes\n    );\n  }\n\n  // page/src/worker.js\n  var GREY2 = \"rgb(114, 114, 114)\";\n  var KEPT_BYTES3 = 16e6;\n  var MAX_SIDE = 2048;\n  var EXPORT_HINT = \"export a YOLO detector with a fixed square input\";\n  var watched = null;\n  var loaded = null;\n  var messageOf = (error) => String(error?.message ?? error);\n  function progress(stage) {\n    postMessage({ type: \"progress\", stage });\n  }\n  var canvas = new OffscreenCanvas(1, 1);\n  var context = (\n    /** @type {OffscreenCanvasRenderingContext2D} */\n    canvas.getContext(\"2d\", { alpha: false, willReadFrequently: true })\n  );\n  function readPixels(bitmap) {\n    const { width, height } = bitmap;\n    try {\n      if (canvas.width !== width) canvas.width = width;\n      if (canvas.height !== height) canvas.height = height;\n      context.fillStyle = GREY2;\n      context.fillRect(0, 0, width, height);\n      context.drawImage(bitmap, 0, 0);\n      const { data } = context.getImageData(0, 0, width, height, { colorSpace: \"srgb\" });\n      if (data.length > KEPT_BYTES3) canvas.width = canvas.height = 1;\n      return data;\n    } catch (error) {\n      throw failure(\n        \"runtime\",\n        `the pixels of a picture of ${width}x${height} cannot be read (${messageOf(error)}); try a smaller picture`\n      );\n    }\n  }\n  var SMALLEST_MODEL = Uint8Array.from(\n    atob(\"CAg6NwoQCgF4EgF5IghJZGVudGl0eRIBZ1oPCgF4EgoKCAgBEgQKAggBYg8KAXkSCgoICAESBAoCCAFCBAoAEA0=\"),\n    (letter) => letter.charCodeAt(0)\n  );\n  async function unpackRuntime(module, wasm2) {\n    try {\n      const script = new Blob([await unpack(module)], { type: \"text/javascript\" });\n      return { script, binary: await unpack(wasm2) };\n    } catch (error) {\n      throw failure(\"assets-missing\", `the page's runtime is damaged (${messageOf(error)})`);\n    }\n  }\n  async function start2({ module, wasm: wasm2, threads, backend }) {\n    const { script, binary } = await unpackRuntime(module, wasm2);\n    progress(\"runtime\");\n    v.logLevel = \"error\";\n    v.wasm.numThreads = threads;\n    v.wasm.wasmPaths = { mjs: URL.createObjectURL(script) };\n    v.wasm.wasmBinary = binary;\n    const session = await createSession(SMALLEST_MODEL, backend);\n    await session.release();\n    v.wasm.wasmBinary = void 0;\n    return {};\n  }\n  async function watchDevice() {\n    const device = (\n      /** @type {any} */\n      await v.webgpu.device\n    );\n    if (device === watched) return;\n    watched = device;\n    device.lost.then(({ reason, message }) => {\n      const words = [reason, message].filter((word) => word && word !== \"unknown\");\n      postMessage({ type: \"lost\", reason: words.join(\": \") || \"the browser gave no reason\" });\n    });\n  }\n  function describe({ name, type, shape }) {\n    return `${name} ${type} (${shape?.join(\", \")})`;\n  }\n  function findInput(session, facts) {\n    const inputs = (\n      /** @type {any[]} */\n      [...session.inputMetadata]\n    );\n    const [input] = inputs;\n    const fits = (axis, length) => typeof axis !== \"number\" || axis === length;\n    const [batch, channels, height, width] = input?.shape ?? [];\n    const side = typeof height === \"number\" ? height : facts.size;\n    const right = inputs.length === 1 && input.type === \"float32\" && input.shape.length === 4 && fits(batch, 1) && fits(channels, 3) && fits(width, side);\n    if (right && side && side > MAX_SIDE) {\n      throw failure(\n        \"model-refused\",\n        `it looks at pictures of ${side}x${side} pixels, and the page takes up to ${MAX_SIDE}; export it for smaller ones, such as 640`\n      );\n    }\n    if (right && side) return { name: input.name, side };\n    throw failure(\n      \"model-shape\",\n      `the model's input is ${inputs.map(describe).join(\"; \") || \"missing\"}; needed: one, float32 (1, 3, S, S); ${EXPORT_HINT}`\n    );\n  }\n  function findOutput({ outputNames }) {\n    if (outputNames.includes(\"output0\") || outputNames.length === 1) {\n      return outputNames.includes(\"output0\") ? \"output0\" : outputNames[0];\n    }\n    throw failure(\n      \"model-shape\",\n      `the model's outputs are ${outputNames.join(\", \")}; needed: one output, or one with the name output0; ${EXPORT_HINT}`\n    );\n  }\n  async function createSession(model, backend, graph) {\n    try {\n      return await Zr.create(graph ?? model, {\n        executionProviders: [backend],\n        graphOptimizationLevel: graph ? \"disabled\" : \"all\",\n        externalData: graph ? [{ path: \"model\", data: model }] : []\n      });\n    } catch (error) {\n      const message = messageOf(error);\n      const isRuntime = /no available backend|initWasm/i.test(message);\n      throw isRuntime ? failure(\"runtime\", `the runtime does not start: ${message}`) : refusal(message);\n    }\n  }\n  async function infer({ session, inputName, outputName, tensor }) {\n    const results = await session.run({ [inputName]: tensor });\n    const output = results[outputName];\n    const data = (\n      /** @type {Float32Array} */\n      await output.getData()\n    );\n    return { dims: output.dims, data, release: () => output.dispose() };\n  }\n  function countMasks({ outputMetadata }) {\n    const maps = [...outputMetadata].find(({ shape }) => shape?.length === 4);\n    return typeof maps?.shape[1] === \"number\" ? maps.shape[1] : 0;\n  }\n  async function tryOnce(network, facts, side, masks) {\n    progress(\"warm-up\");\n    const first = await infer(network);\n    const shape = readShape(first.dims, facts.names, side, masks);\n    if (!facts.names && !masks) requireScores(first.data, shape);\n    const { names, boxes, layout, width } = shape;\n    const { run } = createPostprocess(names.length, boxes, layout, width);\n    run(first.data, fit(side, side, side), { confidence: 0.5, iou: 0.5 });\n    first.release();\n    return shape;\n  }\n  function knownShape({ outputMetadata }, name) {\n    const { shape } = [...outputMetadata].find((output) => output.name === name);\n    return shape.every((axis) => typeof axis === \"number\") ? shape : null;\n  }\n  async function prepareSession(session, { facts, backend, tried }) {\n    const { name, side } = findInput(session, facts);\n    const input = new Float32Array(3 * side * side).fill(114 / 255);\n    const tensor = new V(\"float32\", input, [1, 3, side, side]);\n    const network = { session, inputName: name, outputName: findOutput(session), tensor };\n    const dims = tried && backend === \"wasm\" ? knownShape(session, network.outputName) : null;\n    const masks = countMasks(session);\n    const shape = dims ? readShape(dims, facts.names, side, masks) : await tryOnce(network, facts, side, masks);\n    const { layout, boxes, names, width } = shape;\n    const postprocess = createPostprocess(names.length, boxes, layout, width);\n    if (backend === \"webgpu\") await watchDevice();\n    const letterbox = createLetterbox(side);\n    return { ...network, names, layout, width, side, input, letterbox, postprocess };\n  }\n  function fillInput(network, bitmap) {\n    const pixels = readPixels(bitmap);\n    return network.letterbox.run(pixels, bitmap.width, bitmap.height, network.input);\n  }\n  async function compareBackends(network, { model, sample }) {\n    progress(\"compare\");\n    const bitmap = await createImageBitmap(sample);\n    fillInput(network, bitmap);\n    bitmap.close();\n    const reference = await createSession(new Uint8Array(model), \"wasm\");\n    try {\n      const wanted = await infer({ ...network, session: reference });\n      const found = await infer(network);\n      const difference = outputDifference(found.data, wanted.data, network.layout, network.width);\n      found.release();\n      wanted.release();\n      if (isClose(difference)) return difference;\n      throw new Error(\n        `on a sample its results are not those of WebAssembly: they differ by ${inWords(difference)}`\n      );\n    } finally {\n      await reference.release();\n    }\n  }\n  async function prepare(message) {\n    const { backend, graph } = message;\n    let session = null;\n    progress(\"model\");\n    try {\n      session = await createSession(new Uint8Array(message.model), backend, graph);\n      const network = await prepareSession(session, message);\n      const onGpu = backend === \"webgpu\";\n      return { ...network, difference: onGpu ? await compareBackends(network, message) : null };\n    } catch (error) {\n      await session?.release();\n      const { code } = (\n        /** @type {{code?: string}} */\n        error\n      );\n      if (backend === \"webgpu\" && code !== \"model-shape\") {\n        throw failure(\"webgpu-failed\", messageOf(error));\n      }\n      throw typeof code === \"string\" ? error : refusal(messageOf(error));\n    }\n  }\n  async function load2(message) {\n    const network = await prepare(message);\n    await loaded?.session.release();\n    loaded = network;\n    const { names, layout, side, difference } = network;\n    const { confidence, iou } = message.facts;\n    return { names, layout, size: [side, side], confidence, iou, difference };\n  }\n  async function detect({ bitmap, options }) {\n    if (loaded === null) throw failure(\"runtime\", \"no model is loaded\");\n    const begun = performance.now();\n    const geometry = fillInput(loaded, bitmap);\n    const prepared = performance.now();\n    const output = await infer(loaded);\n    const inferred = performance.now();\n    const detections = loaded.postprocess.run(output.data, geometry, options);\n    output.release();\n    const times = {\n      pre: prepared - begun,\n      inference: inferred - prepared,\n      post: performance.now() - inferred\n    };\n    return { detections, bitmap, times };\n  }\n  async function measure({ frames }) {\n    if (loaded === null) throw failure(\"runtime\", \"no model is loaded\");\n    const times = [];\n    while (times.length < frames) {\n      const begun = performance.now();\n      (await infer(loaded)).release();\n      times.push(performance.now() - begun);\n    }\n    return times.sort((one, other) => one - other)[frames >> 1];\n  }\n  var TASKS = { start: start2, load: load2, detect, measure, ...lessonTasks };\n  self.onmessage = async ({ data }) => {\n    try {\n      const value = await TASKS[data.type](data);\n      const transfer = value.bitmap ? [value.bitmap] : [];\n      postMessage({ type: \"result\", id: data.id, value }, { transfer });\n    } catch (error) {\n      data.bitmap?.close();\n      const { code } = (\n        /** @type {{code?: unknown}} */\n        error ?? {}\n      );\n      const known = typeof code === \"string\" ? code : \"runtime\";\n      postMessage({ type: \"error\", id: data.id, code: known, message: messageOf(error) });\n    }\n  };\n})();\n/*! Bundled license information:\n\nonnxruntime-web/dist/ort.webgpu.min.mjs:\n  (*!\n   * ONNX Runtime Web v1.30.0\n   * Copyright (c) Microsoft Corporation. All rights reserved.\n   * Licensed under the MIT License.\n   *)\n*/\n";
"use strict";
(() => {
  // page/src/failure.js
  function failure(code, message, cause) {
    return Object.assign(new Error(message, { cause }), { code });
  }

  // node_modules/zstddec/dist/zstddec.mjs
  var init;
  var instance;
  var heap;
  var IMPORT_OBJECT = { env: { emscripten_notify_memory_growth: (_) => {
    heap = new Uint8Array(instance.exports.memory.buffer);
  } } };
  var ZSTDDecoder = class {
    init() {
      if (init) return init;
      if (typeof fetch !== "undefined") init = fetch(`data:application/wasm;base64,${wasm}`).then((response) => response.arrayBuffer()).then((arrayBuffer) => WebAssembly.instantiate(arrayBuffer, IMPORT_OBJECT)).then(this._init);
      else init = WebAssembly.instantiate(Buffer.from(wasm, "base64"), IMPORT_OBJECT).then(this._init);
      return init;
    }
    _init(result2) {
      instance = result2.instance;
      IMPORT_OBJECT.env.emscripten_notify_memory_growth(0);
    }
    decode(array, uncompressedSize = 0) {
      if (!instance) throw new Error("ZSTDDecoder: Await .init() before decoding.");
      const compressedSize = array.byteLength;
      const compressedPtr = instance.exports.malloc(compressedSize);
      heap.set(array, compressedPtr);
      uncompressedSize = uncompressedSize || Number(instance.exports.ZSTD_findDecompressedSize(compressedPtr, compressedSize));
      const uncompressedPtr = instance.exports.malloc(uncompressedSize);
      const actualSize = instance.exports.ZSTD_decompress(uncompressedPtr, uncompressedSize, compressedPtr, compressedSize);
      const dec = heap.slice(uncompressedPtr, uncompressedPtr + actualSize);
      instance.exports.free(compressedPtr);
      instance.exports.free(uncompressedPtr);
      return dec;
    }
  };
  var wasm = "AGFzbQEAAAABoAEUYAF/AGADf39/AGACf38AYAF/AX9gBX9/f39/AX9gA39/fwF/YAR/f39/AX9gAn9/AX9gAAF/YAd/f39/f39/AX9gB39/f39/f38AYAR/f39/AX5gAn9/AX5gBn9/f39/fwBgDn9/f39/f39/f39/f39/AX9gCH9/f39/f39/AX9gCX9/f39/f39/fwF/YAN+f38BfmAFf39/f38AYAAAAicBA2Vudh9lbXNjcmlwdGVuX25vdGlmeV9tZW1vcnlfZ3Jvd3RoAAADJyYDAAMACAQJBQEHBwADBgoLBAQDBAEABgUMBQ0OAQEBDxAREgYAEwQFAXABAgIFBwEBggKAgAIGCAF/AUGgnwQLB9MBCgZtZW1vcnkCAAxaU1REX2lzRXJyb3IADRlaU1REX2ZpbmREZWNvbXByZXNzZWRTaXplABkPWlNURF9kZWNvbXByZXNzACQGbWFsbG9jAAEEZnJlZQACGV9faW5kaXJlY3RfZnVuY3Rpb25fdGFibGUBABlfZW1zY3JpcHRlbl9zdGFja19yZXN0b3JlAAQcZW1zY3JpcHRlbl9zdGFja19nZXRfY3VycmVudAAFIl9fY3hhX2luY3JlbWVudF9leGNlcHRpb25fcmVmY291bnQAJQkHAQBBAQsBJgwBCgqtkgMm1ScBC38jAEEQayIKJAACQAJAAkACQAJAAkACQAJAAkACQCAAQfQBTQRAQagbKAIAIgRBECAAQQtqQfgDcSAAQQtJGyIGQQN2IgB2IgFBA3EEQAJAIAFBf3NBAXEgAGoiAkEDdCIBQdAbaiIAIAFB2BtqKAIAIgEoAggiBUYEQEGoGyAEQX4gAndxNgIADAELIAUgADYCDCAAIAU2AggLIAFBCGohACABIAJBA3QiAkEDcjYCBCABIAJqIgEgASgCBEEBcjYCBAwLCyAGQbAbKAIAIghNDQEgAQRAAkBBAiAAdCICQQAgAmtyIAEgAHRxaCIBQQN0IgBB0BtqIgIgAEHYG2ooAgAiACgCCCIFRgRAQagbIARBfiABd3EiBDYCAAwBCyAFIAI2AgwgAiAFNgIICyAAIAZBA3I2AgQgACAGaiIHIAFBA3QiASAGayIFQQFyNgIEIAAgAWogBTYCACAIBEAgCEF4cUHQG2ohAUG8GygCACECAn8gBEEBIAhBA3Z0IgNxRQRAQagbIAMgBHI2AgAgAQwBCyABKAIICyEDIAEgAjYCCCADIAI2AgwgAiABNgIMIAIgAzYCCAsgAEEIaiEAQbwbIAc2AgBBsBsgBTYCAAwLC0GsGygCACILRQ0BIAtoQQJ0QdgdaigCACICKAIEQXhxIAZrIQMgAiEBA0ACQCABKAIQIgBFBEAgASgCFCIARQ0BCyAAKAIEQXhxIAZrIgEgAyABIANJIgEbIQMgACACIAEbIQIgACEBDAELCyACKAIYIQkgAiACKAIMIgBHBEAgAigCCCIBIAA2AgwgACABNgIIDAoLIAIoAhQiAQR/IAJBFGoFIAIoAhAiAUUNAyACQRBqCyEFA0AgBSEHIAEiAEEUaiEFIAAoAhQiAQ0AIABBEGohBSAAKAIQIgENAAsgB0EANgIADAkLQX8hBiAAQb9/Sw0AIABBC2oiAUF4cSEGQawbKAIAIgdFDQBBHyEIQQAgBmshAyAAQfT//wdNBEAgBkEmIAFBCHZnIgBrdkEBcSAAQQF0a0E+aiEICwJAAkACQCAIQQJ0QdgdaigCACIBRQRAQQAhAAwBC0EAIQAgBkEZIAhBAXZrQQAgCEEfRxt0IQIDQAJAIAEoAgRBeHEgBmsiBCADTw0AIAEhBSAEIgMNAEEAIQMgASEADAMLIAAgASgCFCIEIAQgASACQR12QQRxaigCECIBRhsgACAEGyEAIAJBAXQhAiABDQALCyAAIAVyRQRAQQAhBUECIAh0IgBBACAAa3IgB3EiAEUNAyAAaEECdEHYHWooAgAhAAsgAEUNAQsDQCAAKAIEQXhxIAZrIgIgA0khASACIAMgARshAyAAIAUgARshBSAAKAIQIgEEfyABBSAAKAIUCyIADQALCyAFRQ0AIANBsBsoAgAgBmtPDQAgBSgCGCEIIAUgBSgCDCIARwRAIAUoAggiASAANgIMIAAgATYCCAwICyAFKAIUIgEEfyAFQRRqBSAFKAIQIgFFDQMgBUEQagshAgNAIAIhBCABIgBBFGohAiAAKAIUIgENACAAQRBqIQIgACgCECIBDQALIARBADYCAAwHCyAGQbAbKAIAIgVNBEBBvBsoAgAhAAJAIAUgBmsiAUEQTwRAIAAgBmoiAiABQQFyNgIEIAAgBWogATYCACAAIAZBA3I2AgQMAQsgACAFQQNyNgIEIAAgBWoiASABKAIEQQFyNgIEQQAhAkEAIQELQbAbIAE2AgBBvBsgAjYCACAAQQhqIQAMCQsgBkG0GygCACICSQRAQbQbIAIgBmsiATYCAEHAG0HAGygCACIAIAZqIgI2AgAgAiABQQFyNgIEIAAgBkEDcjYCBCAAQQhqIQAMCQtBACEAIAZBL2oiAwJ/QYAfKAIABEBBiB8oAgAMAQtBjB9CfzcCAEGEH0KAoICAgIAENwIAQYAfIApBDGpBcHFB2KrVqgVzNgIAQZQfQQA2AgBB5B5BADYCAEGAIAsiAWoiBEEAIAFrIgdxIgEgBk0NCEHgHigCACIFBEBB2B4oAgAiCCABaiIJIAhNIAUgCUlyDQkLAkBB5B4tAABBBHFFBEACQAJAAkACQEHAGygCACIFBEBB6B4hAANAIAAoAgAiCCAFTQRAIAUgCCAAKAIEakkNAwsgACgCCCIADQALC0EAEAMiAkF/Rg0DIAEhBEGEHygCACIAQQFrIgUgAnEEQCABIAJrIAIgBWpBACAAa3FqIQQLIAQgBk0NA0HgHigCACIABEBB2B4oAgAiBSAEaiIHIAVNIAAgB0lyDQQLIAQQAyIAIAJHDQEMBQsgBCACayAHcSIEEAMiAiAAKAIAIAAoAgRqRg0BIAIhAAsgAEF/Rg0BIAZBMGogBE0EQCAAIQIMBAtBiB8oAgAiAiADIARrakEAIAJrcSICEANBf0YNASACIARqIQQgACECDAMLIAJBf0cNAgtB5B5B5B4oAgBBBHI2AgALIAEQAyICQX9GQQAQAyIAQX9GciAAIAJNcg0FIAAgAmsiBCAGQShqTQ0FC0HYHkHYHigCACAEaiIANgIAQdweKAIAIABJBEBB3B4gADYCAAsCQEHAGygCACIDBEBB6B4hAANAIAIgACgCACIBIAAoAgQiBWpGDQIgACgCCCIADQALDAQLQbgbKAIAIgBBACAAIAJNG0UEQEG4GyACNgIAC0EAIQBB7B4gBDYCAEHoHiACNgIAQcgbQX82AgBBzBtBgB8oAgA2AgBB9B5BADYCAANAIABBA3QiAUHYG2ogAUHQG2oiBTYCACABQdwbaiAFNgIAIABBAWoiAEEgRw0AC0G0GyAEQShrIgBBeCACa0EHcSIBayIFNgIAQcAbIAEgAmoiATYCACABIAVBAXI2AgQgACACakEoNgIEQcQbQZAfKAIANgIADAQLIAIgA00gASADS3INAiAAKAIMQQhxDQIgACAEIAVqNgIEQcAbIANBeCADa0EHcSIAaiIBNgIAQbQbQbQbKAIAIARqIgIgAGsiADYCACABIABBAXI2AgQgAiADakEoNgIEQcQbQZAfKAIANgIADAMLQQAhAAwGC0EAIQAMBAtBuBsoAgAgAksEQEG4GyACNgIACyACIARqIQVB6B4hAAJAA0AgBSAAKAIAIgFHBEAgACgCCCIADQEMAgsLIAAtAAxBCHFFDQMLQegeIQADQAJAIAAoAgAiASADTQRAIAMgASAAKAIEaiIFSQ0BCyAAKAIIIQAMAQsLQbQbIARBKGsiAEF4IAJrQQdxIgFrIgc2AgBBwBsgASACaiIBNgIAIAEgB0EBcjYCBCAAIAJqQSg2AgRBxBtBkB8oAgA2AgAgAyAFQScgBWtBB3FqQS9rIgAgACADQRBqSRsiAUEbNgIEIAFB8B4pAgA3AhAgAUHoHikCADcCCEHwHiABQQhqNgIAQeweIAQ2AgBB6B4gAjYCAEH0HkEANgIAIAFBGGohAANAIABBBzYCBCAAQQhqIQIgAEEEaiEAIAIgBUkNAAsgASADRg0AIAEgASgCBEF+cTYCBCADIAEgA2siAkEBcjYCBCABIAI2AgACfyACQf8BTQRAIAJBeHFB0BtqIQACf0GoGygCACIBQQEgAkEDdnQiAnFFBEBBqBsgASACcjYCACAADAELIAAoAggLIQEgACADNgIIIAEgAzYCDEEMIQJBCAwBC0EfIQAgAkH///8HTQRAIAJBJiACQQh2ZyIAa3ZBAXEgAEEBdGtBPmohAAsgAyAANgIcIANCADcCECAAQQJ0QdgdaiEBAkACQEGsGygCACIFQQEgAHQiBHFFBEBBrBsgBCAFcjYCACABIAM2AgAMAQsgAkEZIABBAXZrQQAgAEEfRxt0IQAgASgCACEFA0AgBSIBKAIEQXhxIAJGDQIgAEEddiEFIABBAXQhACABIAVBBHFqIgQoAhAiBQ0ACyAEIAM2AhALIAMgATYCGEEIIQIgAyIBIQBBDAwBCyABKAIIIgAgAzYCDCABIAM2AgggAyAANgIIQQAhAEEYIQJBDAsgA2ogATYCACACIANqIAA2AgALQbQbKAIAIgAgBk0NAEG0GyAAIAZrIgE2AgBBwBtBwBsoAgAiACAGaiICNgIAIAIgAUEBcjYCBCAAIAZBA3I2AgQgAEEIaiEADAQLQaQbQTA2AgBBACEADAMLIAAgAjYCACAAIAAoAgQgBGo2AgQgAkF4IAJrQQdxaiIIIAZBA3I2AgQgAUF4IAFrQQdxaiIEIAYgCGoiA2shBwJAQcAbKAIAIARGBEBBwBsgAzYCAEG0G0G0GygCACAHaiIANgIAIAMgAEEBcjYCBAwBC0G8GygCACAERgRAQbwbIAM2AgBBsBtBsBsoAgAgB2oiADYCACADIABBAXI2AgQgACADaiAANgIADAELIAQoAgQiAEEDcUEBRgRAIABBeHEhCSAEKAIMIQICQCAAQf8BTQRAIAQoAggiASACRgRAQagbQagbKAIAQX4gAEEDdndxNgIADAILIAEgAjYCDCACIAE2AggMAQsgBCgCGCEGAkAgAiAERwRAIAQoAggiACACNgIMIAIgADYCCAwBCwJAIAQoAhQiAAR/IARBFGoFIAQoAhAiAEUNASAEQRBqCyEBA0AgASEFIAAiAkEUaiEBIAAoAhQiAA0AIAJBEGohASACKAIQIgANAAsgBUEANgIADAELQQAhAgsgBkUNAAJAIAQoAhwiAEECdEHYHWoiASgCACAERgRAIAEgAjYCACACDQFBrBtBrBsoAgBBfiAAd3E2AgAMAgsCQCAEIAYoAhBGBEAgBiACNgIQDAELIAYgAjYCFAsgAkUNAQsgAiAGNgIYIAQoAhAiAARAIAIgADYCECAAIAI2AhgLIAQoAhQiAEUNACACIAA2AhQgACACNgIYCyAHIAlqIQcgBCAJaiIEKAIEIQALIAQgAEF+cTYCBCADIAdBAXI2AgQgAyAHaiAHNgIAIAdB/wFNBEAgB0F4cUHQG2ohAAJ/QagbKAIAIgFBASAHQQN2dCICcUUEQEGoGyABIAJyNgIAIAAMAQsgACgCCAshASAAIAM2AgggASADNgIMIAMgADYCDCADIAE2AggMAQtBHyECIAdB////B00EQCAHQSYgB0EIdmciAGt2QQFxIABBAXRrQT5qIQILIAMgAjYCHCADQgA3AhAgAkECdEHYHWohAAJAAkBBrBsoAgAiAUEBIAJ0IgVxRQRAQawbIAEgBXI2AgAgACADNgIADAELIAdBGSACQQF2a0EAIAJBH0cbdCECIAAoAgAhAQNAIAEiACgCBEF4cSAHRg0CIAJBHXYhASACQQF0IQIgACABQQRxaiIFKAIQIgENAAsgBSADNgIQCyADIAA2AhggAyADNgIMIAMgAzYCCAwBCyAAKAIIIgEgAzYCDCAAIAM2AgggA0EANgIYIAMgADYCDCADIAE2AggLIAhBCGohAAwCCwJAIAhFDQACQCAFKAIcIgFBAnRB2B1qIgIoAgAgBUYEQCACIAA2AgAgAA0BQawbIAdBfiABd3EiBzYCAAwCCwJAIAUgCCgCEEYEQCAIIAA2AhAMAQsgCCAANgIUCyAARQ0BCyAAIAg2AhggBSgCECIBBEAgACABNgIQIAEgADYCGAsgBSgCFCIBRQ0AIAAgATYCFCABIAA2AhgLAkAgA0EPTQRAIAUgAyAGaiIAQQNyNgIEIAAgBWoiACAAKAIEQQFyNgIEDAELIAUgBkEDcjYCBCAFIAZqIgQgA0EBcjYCBCADIARqIAM2AgAgA0H/AU0EQCADQXhxQdAbaiEAAn9BqBsoAgAiAUEBIANBA3Z0IgJxRQRAQagbIAEgAnI2AgAgAAwBCyAAKAIICyEBIAAgBDYCCCABIAQ2AgwgBCAANgIMIAQgATYCCAwBC0EfIQAgA0H///8HTQRAIANBJiADQQh2ZyIAa3ZBAXEgAEEBdGtBPmohAAsgBCAANgIcIARCADcCECAAQQJ0QdgdaiEBAkACQCAHQQEgAHQiAnFFBEBBrBsgAiAHcjYCACABIAQ2AgAgBCABNgIYDAELIANBGSAAQQF2a0EAIABBH0cbdCEAIAEoAgAhAQNAIAEiAigCBEF4cSADRg0CIABBHXYhASAAQQF0IQAgAiABQQRxaiIHKAIQIgENAAsgByAENgIQIAQgAjYCGAsgBCAENgIMIAQgBDYCCAwBCyACKAIIIgAgBDYCDCACIAQ2AgggBEEANgIYIAQgAjYCDCAEIAA2AggLIAVBCGohAAwBCwJAIAlFDQACQCACKAIcIgFBAnRB2B1qIgUoAgAgAkYEQCAFIAA2AgAgAA0BQawbIAtBfiABd3E2AgAMAgsCQCACIAkoAhBGBEAgCSAANgIQDAELIAkgADYCFAsgAEUNAQsgACAJNgIYIAIoAhAiAQRAIAAgATYCECABIAA2AhgLIAIoAhQiAUUNACAAIAE2AhQgASAANgIYCwJAIANBD00EQCACIAMgBmoiAEEDcjYCBCAAIAJqIgAgACgCBEEBcjYCBAwBCyACIAZBA3I2AgQgAiAGaiIFIANBAXI2AgQgAyAFaiADNgIAIAgEQCAIQXhxQdAbaiEAQbwbKAIAIQECf0EBIAhBA3Z0IgcgBHFFBEBBqBsgBCAHcjYCACAADAELIAAoAggLIQQgACABNgIIIAQgATYCDCABIAA2AgwgASAENgIIC0G8GyAFNgIAQbAbIAM2AgALIAJBCGohAAsgCkEQaiQAIAAL3AsBCH8CQCAARQ0AIABBCGsiAyAAQQRrKAIAIgJBeHEiAGohBQJAIAJBAXENACACQQJxRQ0BIAMgAygCACIEayIDQbgbKAIASQ0BIAAgBGohAAJAAkACQEG8GygCACADRwRAIAMoAgwhASAEQf8BTQRAIAEgAygCCCICRw0CQagbQagbKAIAQX4gBEEDdndxNgIADAULIAMoAhghByABIANHBEAgAygCCCICIAE2AgwgASACNgIIDAQLIAMoAhQiAgR/IANBFGoFIAMoAhAiAkUNAyADQRBqCyEEA0AgBCEGIAIiAUEUaiEEIAEoAhQiAg0AIAFBEGohBCABKAIQIgINAAsgBkEANgIADAMLIAUoAgQiAkEDcUEDRw0DQbAbIAA2AgAgBSACQX5xNgIEIAMgAEEBcjYCBCAFIAA2AgAPCyACIAE2AgwgASACNgIIDAILQQAhAQsgB0UNAAJAIAMoAhwiBEECdEHYHWoiAigCACADRgRAIAIgATYCACABDQFBrBtBrBsoAgBBfiAEd3E2AgAMAgsCQCADIAcoAhBGBEAgByABNgIQDAELIAcgATYCFAsgAUUNAQsgASAHNgIYIAMoAhAiAgRAIAEgAjYCECACIAE2AhgLIAMoAhQiAkUNACABIAI2AhQgAiABNgIYCyADIAVPDQAgBSgCBCIEQQFxRQ0AAkACQAJAAkAgBEECcUUEQEHAGygCACAFRgRAQcAbIAM2AgBBtBtBtBsoAgAgAGoiADYCACADIABBAXI2AgQgA0G8GygCAEcNBkGwG0EANgIAQbwbQQA2AgAPC0G8GygCACIHIAVGBEBBvBsgAzYCAEGwG0GwGygCACAAaiIANgIAIAMgAEEBcjYCBCAAIANqIAA2AgAPCyAEQXhxIABqIQAgBSgCDCEBIARB/wFNBEAgBSgCCCICIAFGBEBBqBtBqBsoAgBBfiAEQQN2d3E2AgAMBQsgAiABNgIMIAEgAjYCCAwECyAFKAIYIQggASAFRwRAIAUoAggiAiABNgIMIAEgAjYCCAwDCyAFKAIUIgIEfyAFQRRqBSAFKAIQIgJFDQIgBUEQagshBANAIAQhBiACIgFBFGohBCABKAIUIgINACABQRBqIQQgASgCECICDQALIAZBADYCAAwCCyAFIARBfnE2AgQgAyAAQQFyNgIEIAAgA2ogADYCAAwDC0EAIQELIAhFDQACQCAFKAIcIgRBAnRB2B1qIgIoAgAgBUYEQCACIAE2AgAgAQ0BQawbQawbKAIAQX4gBHdxNgIADAILAkAgBSAIKAIQRgRAIAggATYCEAwBCyAIIAE2AhQLIAFFDQELIAEgCDYCGCAFKAIQIgIEQCABIAI2AhAgAiABNgIYCyAFKAIUIgJFDQAgASACNgIUIAIgATYCGAsgAyAAQQFyNgIEIAAgA2ogADYCACADIAdHDQBBsBsgADYCAA8LIABB/wFNBEAgAEF4cUHQG2ohAgJ/QagbKAIAIgRBASAAQQN2dCIAcUUEQEGoGyAAIARyNgIAIAIMAQsgAigCCAshACACIAM2AgggACADNgIMIAMgAjYCDCADIAA2AggPC0EfIQEgAEH///8HTQRAIABBJiAAQQh2ZyICa3ZBAXEgAkEBdGtBPmohAQsgAyABNgIcIANCADcCECABQQJ0QdgdaiEEAn8CQAJ/QawbKAIAIgZBASABdCICcUUEQEGsGyACIAZyNgIAIAQgAzYCAEEYIQFBCAwBCyAAQRkgAUEBdmtBACABQR9HG3QhASAEKAIAIQQDQCAEIgIoAgRBeHEgAEYNAiABQR12IQQgAUEBdCEBIAIgBEEEcWoiBigCECIEDQALIAYgAzYCEEEYIQEgAiEEQQgLIQAgAyICDAELIAIoAggiBCADNgIMIAIgAzYCCEEYIQBBCCEBQQALIQYgASADaiAENgIAIAMgAjYCDCAAIANqIAY2AgBByBtByBsoAgBBAWsiAEF/IAAbNgIACwtsAQJ/QaAbKAIAIgEgAEEHakF4cSICaiEAAkAgAkEAIAAgAU0bRQRAIAA/AEEQdE0NASAAPwBBEHRrQf//A2pBEHZAAEF/RgR/QQAFQQAQAEEBCw0BC0GkG0EwNgIAQX8PC0GgGyAANgIAIAELBgAgACQACwQAIwALuQUBDH8jAEEQayIMJAACQCAEQQdNBEAgDEIANwMIIAQEQCAMQQhqIAMgBPwKAAALQWwgACABIAIgDEEIakEIEAYiACAAIARLGyAAIABBiX9JGyEFDAELIAEoAgBBAWoiDkEBdCIIBEAgAEEAIAj8CwALIAMoAAAiBUEPcSIHQQpLBEBBVCEFDAELIAIgB0EFajYCACADIARqIgJBBGshCCACQQdrIQ0gB0EGaiEPQQQhBiAFQQR2IQVBICAHdCIJQQFyIQpBACECQQEhByADIQQDQAJAIAdBAXFFBEADQCAFQX9zQYCAgIB4cmgiB0EYSUUEQCACQSRqIQIgBCANTQR/IARBA2oFIAQgDWtBA3QgBmpBH3EhBiAICyIEKAAAIAZ2IQUMAQsLIAYgB0EecSILakECaiEGIAdBAXZBA2wgAmogBSALdkEDcWoiAiAOTw0BAn8gBCANSyAGQQN2IARqIgUgCEtxRQRAIAZBB3EhBiAFDAELIAQgCGtBA3QgBmpBH3EhBiAICyIEKAAAIAZ2IQULIAUgCUEBa3EiByAJQQF0QQFrIgsgCmsiEEkEfyAPQQFrBSAFIAtxIgUgEEEAIAUgCU4bayEHIA8LIQUgACACQQF0aiAHQQFrIgs7AQAgAkEBaiECIAUgBmohBiAJQQEgB2sgCyAHQQBKGyAKaiIKSgRAIApBAkgNAUEgIApnIgVrIQ9BASAFQR9zdCEJCyACIA5PDQAgC0EARyEHAn8gBCANSyAGQQN1IARqIgUgCEtxRQRAIAZBB3EhBiAFDAELIAYgBCAIa0EDdGpBH3EhBiAICyIEKAAAIAZ2IQUMAQsLQWwhBSAKQQFHDQAgAiAOSwRAQVAhBQwBCyAGQSBKDQAgASACQQFrNgIAIAQgBkEHakEDdWogA2shBQsgDEEQaiQAIAULrRkCEX8BfiMAQTBrIgckAEG4fyEIAkAgBUUNACAELAAAIglB/wFxIQ0CQAJAIAlBAEgEQCANQf4Aa0EBdiIGIAVPDQMgDUH/AGsiCEH/AUsNAiAEQQFqIQRBACEFA0AgBSAITwRAIAYhDQwDBSAAIAVqIg0gBCAFQQF2aiIJLQAAQQR2OgAAIA0gCS0AAEEPcToAASAFQQJqIQUMAQsACwALIAUgDU0NAiAHQf8BNgIEIAYgB0EEaiAHQQhqIARBAWoiCiANEAYiBEGIf0sEQCAEIQgMAwtBVCEIIAcoAggiC0EGSw0CIAcoAgQiBUEBdCIMQQJqrUIBIAuthiIYQQQgC3QiCUEIaq18fEILfEL8//////////8Ag0LoAlYNAkFSIQggBUH/AUsNAkHoAiAJa60gBUEBaiIQQQF0rSAYfEIIfFQNAiANIARrIRQgBCAKaiEVIAwgBkGABGoiDCAJakEEaiIWakECaiERIAZBhARqIRcgBkGGBGohE0GAgAIgC3RBEHYhCEEAIQVBASEOQQEgC3QiCkEBayISIQQDQCAFIBBGRQRAAkAgBiAFQQF0Ig9qLwEAIglB//8DRgRAIBMgBEECdGogBToAACAEQQFrIQRBASEJDAELIA5BACAIIAnBShshDgsgDyAWaiAJOwEAIAVBAWohBQwBCwsgBiAOOwGCBCAGIAs7AYAEAkAgBCASRgRAQgAhGEEAIQlBACEIA0AgCSAQRgRAIApBA3YgCkEBdmpBA2oiBkEBdCEJQQAhBEEAIQgDQCAIIApPDQQgCCARaiEQQQAhBQNAIAVBAkZFBEAgEyAFIAZsIARqIBJxQQJ0aiAFIBBqLQAAOgAAIAVBAWohBQwBCwsgCEECaiEIIAQgCWogEnEhBAwACwAFIAYgCUEBdGouAQAhBCAIIBFqIg8gGDcAAEEIIQUDQCAEIAVMRQRAIAUgD2ogGDcAACAFQQhqIQUMAQsLIBhCgYKEiJCgwIABfCEYIAlBAWohCSAEIAhqIQgMAQsACwALIApBA3YgCkEBdmpBA2ohEUEAIQhBACEFA0AgCCAQRkUEQEEAIQkgBiAIQQF0ai4BACIPQQAgD0EAShshDwNAIAkgD0ZFBEAgEyAFQQJ0aiAIOgAAA0AgBSARaiAScSIFIARLDQALIAlBAWohCQwBCwsgCEEBaiEIDAELC0F/IQggBQ0DCyALQR9rIQhBACEFA0AgBSAKRkUEQCAWIBcgBUECdGoiBC0AAkEBdGoiBiAGLwEAIgZBAWo7AQAgBCAIIAZnaiIJOgADIAQgBiAJdCAKazsBACAFQQFqIQUMAQsLAkACQCAOQf//A3EEQCAHQRxqIgQgFSAUEAgiCEGIf0sNAiAHQRRqIAQgDBAJIAdBDGogBCAMEAkgBygCICIIQSBLDQECQCAHAn8gBygCJCIEIAcoAixPBEAgByAEIAhBA3ZrIgU2AiQgCEEHcQwBCyAEIAcoAigiBUYNASAHIAQgBCAFayAIQQN2IgYgBCAGayAFSRsiBGsiBTYCJCAIIARBA3RrCyIINgIgIAcgBSgAADYCHAtBACEFA0ACQAJAIAhBIU8EQCAHQbAaNgIkDAELIAcCfyAHKAIkIgQgBygCLE8EQCAHIAQgCEEDdmsiBDYCJEEBIQkgCEEHcQwBCyAEIAcoAigiBkYNASAHIAQgCEEDdiIJIAQgBmsgBCAJayAGTyIJGyIGayIENgIkIAggBkEDdGsLNgIgIAcgBCgAADYCHCAJRSAFQfsBS3INACAAIAVqIgggB0EUaiAHQRxqIgQQCjoAACAIIAdBDGogBBAKOgABAkAgBygCICIGQSFPBEAgB0GwGjYCJAwBCyAHKAIkIgQgBygCLE8EQCAHIAZBB3E2AiAgByAEIAZBA3ZrIgQ2AiQgByAEKAAANgIcDAMLIAQgBygCKCIJRg0AIAcgBiAEIAlrIAZBA3YiBiAEIAZrIgYgCUkbIgpBA3RrNgIgIAcgBCAKayIENgIkIAcgBCgAADYCHCAGIAlPDQILIAVBAnIhBQsgAEEBaiEMAn8CQANAQbp/IQggBUH9AUsNByAAIAVqIgogB0EUaiAHQRxqEAo6AAAgBSAMaiELIAcoAiAiBkEgSw0BAkAgBwJ/IAcoAiQiBCAHKAIsTwRAIAcgBCAGQQN2ayIENgIkIAZBB3EMAQsgBCAHKAIoIglGDQEgByAEIAQgCWsgBkEDdiIOIAQgDmsgCUkbIglrIgQ2AiQgBiAJQQN0aws2AiAgByAEKAAANgIcCyAFQf0BRg0HIAsgB0EMaiAHQRxqEAo6AAAgBUECaiEFIAcoAiAiBkEgTQRAIAcCfyAHKAIkIgQgBygCLE8EQCAHIAQgBkEDdmsiCDYCJCAGQQdxDAELIAQgBygCKCIIRg0CIAcgBCAEIAhrIAZBA3YiCSAEIAlrIAhJGyIEayIINgIkIAYgBEEDdGsLNgIgIAcgCCgAADYCHAwBCwsgB0GwGjYCJCAAIAVqIAdBFGogB0EcahAKOgAAIApBA2oMAQsgB0GwGjYCJCALIAdBDGogB0EcahAKOgAAIApBAmoLIABrIQgMBAsgCCAHQRRqIAdBHGoiBBAKOgACIAggB0EMaiAEEAo6AAMgBUEEaiEFIAcoAiAhCAwACwALIAdBHGoiBCAVIBQQCCIIQYh/Sw0BIAdBFGogBCAMEAkgB0EMaiAEIAwQCSAHKAIgIghBIEsNAAJAIAcCfyAHKAIkIgQgBygCLE8EQCAHIAQgCEEDdmsiBTYCJCAIQQdxDAELIAQgBygCKCIFRg0BIAcgBCAEIAVrIAhBA3YiBiAEIAZrIAVJGyIEayIFNgIkIAggBEEDdGsLIgg2AiAgByAFKAAANgIcC0EAIQUDQAJAAkAgCEEhTwRAIAdBsBo2AiQMAQsgBwJ/IAcoAiQiBCAHKAIsTwRAIAcgBCAIQQN2ayIENgIkQQEhCSAIQQdxDAELIAQgBygCKCIGRg0BIAcgBCAIQQN2IgkgBCAGayAEIAlrIAZPIgkbIgZrIgQ2AiQgCCAGQQN0aws2AiAgByAEKAAANgIcIAlFIAVB+wFLcg0AIAAgBWoiCCAHQRRqIAdBHGoiBBALOgAAIAggB0EMaiAEEAs6AAECQCAHKAIgIgZBIU8EQCAHQbAaNgIkDAELIAcoAiQiBCAHKAIsTwRAIAcgBkEHcTYCICAHIAQgBkEDdmsiBDYCJCAHIAQoAAA2AhwMAwsgBCAHKAIoIglGDQAgByAGIAQgCWsgBkEDdiIGIAQgBmsiBiAJSRsiCkEDdGs2AiAgByAEIAprIgQ2AiQgByAEKAAANgIcIAYgCU8NAgsgBUECciEFCyAAQQFqIQwCfwJAA0BBun8hCCAFQf0BSw0GIAAgBWoiCiAHQRRqIAdBHGoQCzoAACAFIAxqIQsgBygCICIGQSBLDQECQCAHAn8gBygCJCIEIAcoAixPBEAgByAEIAZBA3ZrIgQ2AiQgBkEHcQwBCyAEIAcoAigiCUYNASAHIAQgBCAJayAGQQN2Ig4gBCAOayAJSRsiCWsiBDYCJCAGIAlBA3RrCzYCICAHIAQoAAA2AhwLIAVB/QFGDQYgCyAHQQxqIAdBHGoQCzoAACAFQQJqIQUgBygCICIGQSBNBEAgBwJ/IAcoAiQiBCAHKAIsTwRAIAcgBCAGQQN2ayIINgIkIAZBB3EMAQsgBCAHKAIoIghGDQIgByAEIAQgCGsgBkEDdiIJIAQgCWsgCEkbIgRrIgg2AiQgBiAEQQN0aws2AiAgByAIKAAANgIcDAELCyAHQbAaNgIkIAAgBWogB0EUaiAHQRxqEAs6AAAgCkEDagwBCyAHQbAaNgIkIAsgB0EMaiAHQRxqEAs6AAAgCkECagsgAGshCAwDCyAIIAdBFGogB0EcaiIEEAs6AAIgCCAHQQxqIAQQCzoAAyAFQQRqIQUgBygCICEIDAALAAtBbCEICyAIQYh/Sw0CC0EAIQUgAUEAQTT8CwAgCCEGQQAhBANAIAUgBkcEQCAAIAVqIggtAAAiCUEMSw0CIAEgCUECdGoiCSAJKAIAQQFqNgIAIAVBAWohBUEBIAgtAAB0QQF1IARqIQQMAQsLQWwhCCAERQ0BIARnIgVBHHNBC0sNASADQSAgBWsiAzYCAEGAgICAeEEBIAN0IARrIgNnIgR2IANHDQEgACAGakEgIARrIgA6AAAgASAAQQJ0aiIAIAAoAgBBAWo2AgAgASgCBCIAQQJJIABBAXFyDQEgAiAGQQFqNgIAIA1BAWohCAwBC0FsIQgLIAdBMGokACAIC/UBAQF/IAJFBEAgAEIANwIAIABBADYCECAAQgA3AghBuH8PCyAAIAE2AgwgACABQQRqNgIQIAJBBE8EQCAAIAEgAmoiAUEEayIDNgIIIAAgAygAADYCACABQQFrLQAAIgEEQCAAQQggAWdBH3NrNgIEIAIPCyAAQQA2AgRBfw8LIAAgATYCCCAAIAEtAAAiAzYCAAJAAkACQCACQQJrDgIBAAILIAAgAS0AAkEQdCADciIDNgIACyAAIAEtAAFBCHQgA2o2AgALIAEgAmpBAWstAAAiAUUEQCAAQQA2AgRBbA8LIAAgAWcgAkEDdGtBCWo2AgQgAguuAQEEfyABIAIvAQAiAyABKAIEaiIENgIEIAAgA0ECdEGwGWooAgAgASgCAEEAIARrdnE2AgACQCAEQSFPBEAgAUGwGjYCCAwBCyABKAIIIgMgASgCEE8EQCABEAwMAQsgAyABKAIMIgVGDQAgASADIAMgBWsgBEEDdiIGIAMgBmsgBUkbIgNrIgU2AgggASAEIANBA3RrNgIEIAEgBSgAADYCAAsgACACQQRqNgIEC0wBBH8gACgCBCAAKAIAQQJ0aiICLQACIQMgAi8BACEEIAEgASgCBCIFIAItAAMiAmo2AgQgACAEIAEoAgAgBXRBACACa3ZqNgIAIAMLVgEEfyAAKAIEIAAoAgBBAnRqIgItAAIhAyACLwEAIQQgASACLQADIgIgASgCBGoiBTYCBCAAIAQgAkECdEGwGWooAgAgASgCAEEAIAVrdnFqNgIAIAMLLwEBfyAAIAAoAgQiAUEHcTYCBCAAIAAoAgggAUEDdmsiATYCCCAAIAEoAAA2AgALCAAgAEGIf0sLxQkCDX8CfiMAQRBrIgskACALQQA2AgwgC0EANgIIAn8CQCADQdQJaiIFIAMgC0EIaiALQQxqIAEgAiADQegAahAHIhBBiH9LDQAgCygCCCEIQQogACgCACIJQf8BcSIHIAdBCk8bQQFqIgQgCygCDCIBTwRAAkAgASAETw0AIAQgAWshAkEAIQEDQCABIAhGBEAgBCEBA0AgASACTQRAA0AgAkUNBSADIAJBAnRqQQA2AgAgAkEBayECDAALAAUgAyABQQJ0aiADIAEgAmtBAnRqKAIANgIAIAFBAWshAQwBCwALAAUgASAFaiIKIAJBACAKLQAAIgobIApqOgAAIAFBAWohAQwBCwALAAsgBCEBC0FUIAEgB0EBaksNARogAEEEaiEKIAAgCUH/gYB4cSABQRB0QYCA/AdxcjYCACABQQFqIQ4gA0E0aiEEQQAhAUEAIQIDQCACIA5GRQRAIAMgAkECdCIAaigCACEHIAAgBGogATYCACACQQFqIQIgASAHaiEBDAELCyADQdQHaiEHIAhBA2shAUEAIQADQAJAQQAhAiAAIAFOBEADQCAAIAhODQIgBCAAIAVqLQAAQQJ0aiIBIAEoAgAiAUEBajYCACABIAdqIAA6AAAgAEEBaiEADAALAAUDQCACQQRGRQRAIAQgBSAAIAJyIglqLQAAQQJ0aiIMIAwoAgAiDEEBajYCACAHIAxqIAk6AAAgAkEBaiECDAELCyAAQQRqIQAMAgsACwsgAygCACEIQQAhAEEBIQkDQCAJIA5GDQEgDiAJayEEIAMgCUECdGooAgAhBQJAAkACQAJAAkACQEEBIAl0QQF1IgxBAWsOCAABBAIEBAQDBAtBACECIAVBACAFQQBKGyEGIAAhAQNAIAIgBkYNBSAKIAFBAXRqIg0gByACIAhqai0AADoAASANIAQ6AAAgAkEBaiECIAFBAWohAQwACwALQQAhAiAFQQAgBUEAShshDSAAIQEDQCACIA1GDQQgCiABQQF0aiIGIAcgAiAIamotAAAiDzoAAyAGIAQ6AAIgBiAPOgABIAYgBDoAACACQQFqIQIgAUECaiEBDAALAAtBACECIAVBACAFQQBKGyEGIARB/wFxrSERIAAhAQNAIAIgBkYNAyAKIAFBAXRqIAcgAiAIamoxAABCCIYgEYRCgYCEgJCAwAB+NwAAIAJBAWohAiABQQRqIQEMAAsAC0EAIQIgBUEAIAVBAEobIQYgBEH/AXGtIREgACEBA0AgAiAGRg0CIAogAUEBdGoiBCAHIAIgCGpqMQAAQgiGIBGEQoGAhICQgMAAfiISNwAIIAQgEjcAACACQQFqIQIgAUEIaiEBDAALAAtBACEBIAVBACAFQQBKGyENIARB/wFxrSESIAAhBANAIAEgDUYNASAKIARBAXRqIQ8gByABIAhqajEAAEIIhiAShEKBgISAkIDAAH4hEUEAIQIDQCACIAxORQRAIA8gAkEBdGoiBiARNwAYIAYgETcAECAGIBE3AAggBiARNwAAIAJBEGohAgwBCwsgAUEBaiEBIAQgDGohBAwACwALIAlBAWohCSAFIAhqIQggBSAMbCAAaiEADAALAAsgEAshAiALQRBqJAAgAgufAwIBfgF/AkACQAJAAkACQAJAQQEgBCADa3QiCEEBaw4IAAEEAgQEBAMECyAGQRh0IANBEHRqIQMDQCABIAJGDQUgACABLQAAIgQgBEEIdCAFciAGQQFGGyADcjYBACABQQFqIQEgAEEEaiEADAALAAsgBkEYdCADQRB0aiEDA0AgASACRg0EIAAgAS0AACIEIARBCHQgBXIgBkEBRhsgA3IiBDYBBCAAIAQ2AQAgAUEBaiEBIABBCGohAAwACwALA0AgASACRg0DIAAgAS0AACADIAUgBhAQIgc3AQggACAHNwEAIAFBAWohASAAQRBqIQAMAAsACwNAIAEgAkYNAiAAIAEtAAAgAyAFIAYQECIHNwEYIAAgBzcBECAAIAc3AQggACAHNwEAIAFBAWohASAAQSBqIQAMAAsACwNAIAEgAkYNASAAIAhBAnRqIQQgAS0AACADIAUgBhAQIQcDQCAAIARGRQRAIAAgBzcBGCAAIAc3ARAgACAHNwEIIAAgBzcBACAAQSBqIQAMAQsLIAFBAWohASAEIQAMAAsACwsmACADQRh0IAFBEHRqIAAgAEEIdCACciADQQFGG3KtQoGAgIAQfgu7BgEKfyMAQSBrIgUkACAELwECIQsgBUEMaiACIAMQCCIDQYh/TQRAIARBBGohCCAAIAFqIQkCQAJAAkAgAUEETwRAIAlBA2shDUEAIAtrQR9xIQwgBSgCFCEDIAUoAhghByAFKAIcIQ4gBSgCDCEGIAUoAhAhBANAIARBIEsEQEGwGiEDDAQLAkAgAyAOTwRAIARBB3EhAiAEQQN2IQZBASEEDAELIAMgB0YNBCAEIARBA3YiAiADIAdrIAMgAmsgB08iBBsiBkEDdGshAgsgAyAGayIDKAAAIQYgBEUgACANT3INAiAIIAYgAnQgDHZBAXRqIgQtAAAhCiAAIAQtAAE6AAAgCCAGIAIgCmoiAnQgDHZBAXRqIgQtAAAhCiAAIAQtAAE6AAEgAiAKaiEEIABBAmohAAwACwALIAUoAhAiBEEhTwRAIAVBsBo2AhQMAwsgBSgCFCIDIAUoAhxPBEAgBSAEQQdxIgI2AhAgBSADIARBA3ZrIgM2AhQgBSADKAAANgIMIAIhBAwDCyADIAUoAhgiAkYNAiAFIAQgAyACayAEQQN2IgQgAyAEayACSRsiAkEDdGsiBDYCECAFIAMgAmsiAjYCFCAFIAIoAAA2AgwMAgsgAiEECyAFIAQ2AhAgBSADNgIUIAUgBjYCDAtBACALa0EfcSEHA0ACQCAEQSFPBEAgBUGwGjYCFAwBCyAFAn8gBSgCFCICIAUoAhxPBEAgBSACIARBA3ZrIgM2AhRBASEGIARBB3EMAQsgAiAFKAIYIgNGDQEgBSACIARBA3YiBiACIANrIAIgBmsgA08iBhsiAmsiAzYCFCAEIAJBA3RrCyIENgIQIAUgAygAACICNgIMIAZFIAAgCU9yDQAgCCACIAR0IAd2QQF0aiICLQABIQMgBSAEIAItAABqNgIQIAAgAzoAACAAQQFqIQAgBSgCECEEDAELCwNAIAAgCU9FBEAgCCAFKAIMIAUoAhAiAnQgB3ZBAXRqIgMtAAEhBCAFIAIgAy0AAGo2AhAgACAEOgAAIABBAWohAAwBCwtBbEFsIAEgBSgCEEEgRxsgBSgCFCAFKAIYRxshAwsgBUEgaiQAIAML/SEBGX8jAEHQAGsiBSQAQWwhBgJAIAFBBkkgA0EKSXINAAJAIAMgAi8ABCIHIAIvAAAiCiACLwACIglqakEGaiILSQ0AIAAgAUEDakECdiIMaiIIIAxqIg0gDGoiDCAAIAFqIhFLDQAgBC8BAiEOIAVBPGogAkEGaiICIAoQCCIGQYh/Sw0BIAVBKGogAiAKaiICIAkQCCIGQYh/Sw0BIAVBFGogAiAJaiICIAcQCCIGQYh/Sw0BIAUgAiAHaiADIAtrEAgiBkGIf0sNASAEQQRqIQogEUEDayESAkAgESAMa0EESQRAIAwhAyANIQIgCCEEDAELQQAgDmtBH3EhBkEAIQkgDCEDIA0hAiAIIQQDQCAJQQFxIAMgEk9yDQEgACAKIAUoAjwiCSAFKAJAIgt0IAZ2QQJ0aiIHLwEAOwAAIActAAIhECAHLQADIQ8gBCAKIAUoAigiEyAFKAIsIhR0IAZ2QQJ0aiIHLwEAOwAAIActAAIhFSAHLQADIRYgAiAKIAUoAhQiFyAFKAIYIhh0IAZ2QQJ0aiIHLwEAOwAAIActAAIhGSAHLQADIRogAyAKIAUoAgAiGyAFKAIEIhx0IAZ2QQJ0aiIHLwEAOwAAIActAAIhHSAHLQADIQcgACAPaiIPIAogCSALIBBqIgl0IAZ2QQJ0aiIALwEAOwAAIAUgCSAALQACajYCQCAALQADIQkgBCAWaiIEIAogEyAUIBVqIgt0IAZ2QQJ0aiIALwEAOwAAIAUgCyAALQACajYCLCAALQADIQsgAiAaaiICIAogFyAYIBlqIhB0IAZ2QQJ0aiIALwEAOwAAIAUgECAALQACajYCGCAALQADIRAgAyAHaiIHIAogGyAcIB1qIgB0IAZ2QQJ0aiIDLwEAOwAAIAUgACADLQACajYCBCAJIA9qIQAgBCALaiEEIAIgEGohAiAHIAMtAANqIQMgBUE8ahATIAVBKGoQE3IgBUEUahATciAFEBNyQQBHIQkMAAsACyAAIAhLIAQgDUtyDQBBbCEGIAIgDEsNAQJAAkAgCCAAayIJQQRPBEAgCEEDayEQQQAgDmtBH3EhCyAFKAJAIQYDQCAGQSFPBEAgBUGwGjYCRAwDCyAFAn8gBSgCRCIHIAUoAkxPBEAgBSAHIAZBA3ZrIgk2AkRBASEHIAZBB3EMAQsgByAFKAJIIglGDQMgBSAHIAZBA3YiDyAHIAlrIAcgD2sgCU8iBxsiD2siCTYCRCAGIA9BA3RrCyIGNgJAIAUgCSgAACIJNgI8IAdFIAAgEE9yDQIgACAKIAkgBnQgC3ZBAnRqIgYvAQA7AAAgBSAFKAJAIAYtAAJqIgc2AkAgACAGLQADaiIJIAogBSgCPCAHdCALdkECdGoiAC8BADsAACAFIAUoAkAgAC0AAmoiBjYCQCAJIAAtAANqIQAMAAsACyAFKAJAIgZBIU8EQCAFQbAaNgJEDAILIAUoAkQiCyAFKAJMTwRAIAUgBkEHcSIHNgJAIAUgCyAGQQN2ayIGNgJEIAUgBigAADYCPCAHIQYMAgsgCyAFKAJIIgdGDQEgBSAGIAsgB2sgBkEDdiIGIAsgBmsgB0kbIgdBA3RrIgY2AkAgBSALIAdrIgc2AkQgBSAHKAAANgI8DAELIAggAGshCQsCQCAJQQJJDQAgCEECayELQQAgDmtBH3EhEANAAkAgBkEhTwRAIAVBsBo2AkQMAQsgBQJ/IAUoAkQiByAFKAJMTwRAIAUgByAGQQN2ayIJNgJEQQEhByAGQQdxDAELIAcgBSgCSCIJRg0BIAUgByAGQQN2Ig8gByAJayAHIA9rIAlPIgcbIg9rIgk2AkQgBiAPQQN0awsiBjYCQCAFIAkoAAAiCTYCPCAHRSAAIAtLcg0AIAAgCiAJIAZ0IBB2QQJ0aiIHLwEAOwAAIAUgBSgCQCAHLQACaiIGNgJAIAAgBy0AA2ohAAwBCwsDQCAAIAtLDQEgACAKIAUoAjwgBnQgEHZBAnRqIgcvAQA7AAAgBSAFKAJAIActAAJqIgY2AkAgACAHLQADaiEADAALAAsCQCAAIAhPDQAgACAKIAUoAjwgBnRBACAOa3ZBAnRqIgAtAAA6AAAgBQJ/IAAtAANBAUYEQCAFKAJAIAAtAAJqDAELIAUoAkAiCEEfSw0BQSAgCCAALQACaiIAIABBIE8bCzYCQAsCQAJAIA0gBGsiBkEETwRAIA1BA2shCUEAIA5rQR9xIQcgBSgCLCEAA0AgAEEhTwRAIAVBsBo2AjAMAwsgBQJ/IAUoAjAiCCAFKAI4TwRAIAUgCCAAQQN2ayIGNgIwQQEhCCAAQQdxDAELIAggBSgCNCIGRg0DIAUgCCAAQQN2IgsgCCAGayAIIAtrIAZPIggbIgtrIgY2AjAgACALQQN0awsiADYCLCAFIAYoAAAiBjYCKCAIRSAEIAlPcg0CIAQgCiAGIAB0IAd2QQJ0aiIALwEAOwAAIAUgBSgCLCAALQACaiIINgIsIAQgAC0AA2oiBiAKIAUoAiggCHQgB3ZBAnRqIgQvAQA7AAAgBSAFKAIsIAQtAAJqIgA2AiwgBiAELQADaiEEDAALAAsgBSgCLCIAQSFPBEAgBUGwGjYCMAwCCyAFKAIwIgcgBSgCOE8EQCAFIABBB3EiCDYCLCAFIAcgAEEDdmsiADYCMCAFIAAoAAA2AiggCCEADAILIAcgBSgCNCIIRg0BIAUgACAHIAhrIABBA3YiACAHIABrIAhJGyIIQQN0ayIANgIsIAUgByAIayIINgIwIAUgCCgAADYCKAwBCyANIARrIQYLAkAgBkECSQ0AIA1BAmshCUEAIA5rQR9xIQsDQAJAIABBIU8EQCAFQbAaNgIwDAELIAUCfyAFKAIwIgggBSgCOE8EQCAFIAggAEEDdmsiBjYCMEEBIQcgAEEHcQwBCyAIIAUoAjQiBkYNASAFIAggAEEDdiIHIAggBmsgCCAHayAGTyIHGyIIayIGNgIwIAAgCEEDdGsLIgA2AiwgBSAGKAAAIgg2AiggB0UgBCAJS3INACAEIAogCCAAdCALdkECdGoiCC8BADsAACAFIAUoAiwgCC0AAmoiADYCLCAEIAgtAANqIQQMAQsLA0AgBCAJSw0BIAQgCiAFKAIoIAB0IAt2QQJ0aiIILwEAOwAAIAUgBSgCLCAILQACaiIANgIsIAQgCC0AA2ohBAwACwALAkAgBCANTw0AIAQgCiAFKAIoIAB0QQAgDmt2QQJ0aiIALQAAOgAAIAUCfyAALQADQQFGBEAgBSgCLCAALQACagwBCyAFKAIsIgRBH0sNAUEgIAQgAC0AAmoiACAAQSBPGws2AiwLAkACQCAMIAJrIgZBBE8EQCAMQQNrIQdBACAOa0EfcSEIIAUoAhghAANAIABBIU8EQCAFQbAaNgIcDAMLIAUCfyAFKAIcIgQgBSgCJE8EQCAFIAQgAEEDdmsiBjYCHEEBIQkgAEEHcQwBCyAEIAUoAiAiDUYNAyAFIAQgAEEDdiIGIAQgDWsgBCAGayANTyIJGyIEayIGNgIcIAAgBEEDdGsLIgA2AhggBSAGKAAAIgQ2AhQgCUUgAiAHT3INAiACIAogBCAAdCAIdkECdGoiAC8BADsAACAFIAUoAhggAC0AAmoiBDYCGCACIAAtAANqIg0gCiAFKAIUIAR0IAh2QQJ0aiICLwEAOwAAIAUgBSgCGCACLQACaiIANgIYIA0gAi0AA2ohAgwACwALIAUoAhgiAEEhTwRAIAVBsBo2AhwMAgsgBSgCHCIIIAUoAiRPBEAgBSAAQQdxIgQ2AhggBSAIIABBA3ZrIgA2AhwgBSAAKAAANgIUIAQhAAwCCyAIIAUoAiAiBEYNASAFIAAgCCAEayAAQQN2IgAgCCAAayAESRsiBEEDdGsiADYCGCAFIAggBGsiBDYCHCAFIAQoAAA2AhQMAQsgDCACayEGCwJAIAZBAkkNACAMQQJrIQ1BACAOa0EfcSEHA0ACQCAAQSFPBEAgBUGwGjYCHAwBCyAFAn8gBSgCHCIEIAUoAiRPBEAgBSAEIABBA3ZrIgY2AhxBASEIIABBB3EMAQsgBCAFKAIgIghGDQEgBSAEIABBA3YiBiAEIAhrIAQgBmsgCE8iCBsiBGsiBjYCHCAAIARBA3RrCyIANgIYIAUgBigAACIENgIUIAhFIAIgDUtyDQAgAiAKIAQgAHQgB3ZBAnRqIgQvAQA7AAAgBSAFKAIYIAQtAAJqIgA2AhggAiAELQADaiECDAELCwNAIAIgDUsNASACIAogBSgCFCAAdCAHdkECdGoiBC8BADsAACAFIAUoAhggBC0AAmoiADYCGCACIAQtAANqIQIMAAsACwJAIAIgDE8NACACIAogBSgCFCAAdEEAIA5rdkECdGoiAC0AADoAACAFAn8gAC0AA0EBRgRAIAUoAhggAC0AAmoMAQsgBSgCGCICQR9LDQFBICACIAAtAAJqIgAgAEEgTxsLNgIYCwJAIBEgA2tBBE8EQEEAIA5rQR9xIQQgBSgCBCEAA0AgAEEhTwRAIAVBsBo2AggMAwsgBQJ/IAUoAggiAiAFKAIQTwRAIAUgAiAAQQN2ayIGNgIIQQEhAiAAQQdxDAELIAIgBSgCDCIMRg0DIAUgAiAAQQN2IgggAiAMayACIAhrIAxPIgIbIgxrIgY2AgggACAMQQN0awsiADYCBCAFIAYoAAAiDDYCACACRSADIBJPcg0CIAMgCiAMIAB0IAR2QQJ0aiIALwEAOwAAIAUgBSgCBCAALQACaiICNgIEIAMgAC0AA2oiAyAKIAUoAgAgAnQgBHZBAnRqIgIvAQA7AAAgBSAFKAIEIAItAAJqIgA2AgQgAyACLQADaiEDDAALAAsgBSgCBCIAQSFPBEAgBUGwGjYCCAwBCyAFKAIIIgQgBSgCEE8EQCAFIABBB3EiAjYCBCAFIAQgAEEDdmsiADYCCCAFIAAoAAA2AgAgAiEADAELIAQgBSgCDCICRg0AIAUgACAEIAJrIABBA3YiACAEIABrIAJJGyICQQN0ayIANgIEIAUgBCACayICNgIIIAUgAigAADYCAAsCQCARIANrQQJJDQAgEUECayEEQQAgDmtBH3EhDANAAkAgAEEhTwRAIAVBsBo2AggMAQsgBQJ/IAUoAggiAiAFKAIQTwRAIAUgAiAAQQN2ayIGNgIIQQEhCSAAQQdxDAELIAIgBSgCDCIIRg0BIAUgAiAAQQN2Ig0gAiAIayACIA1rIAhPIgkbIgJrIgY2AgggACACQQN0awsiADYCBCAFIAYoAAAiAjYCACAJRSADIARLcg0AIAMgCiACIAB0IAx2QQJ0aiICLwEAOwAAIAUgBSgCBCACLQACaiIANgIEIAMgAi0AA2ohAwwBCwsDQCADIARLDQEgAyAKIAUoAgAgAHQgDHZBAnRqIgIvAQA7AAAgBSAFKAIEIAItAAJqIgA2AgQgAyACLQADaiEDDAALAAsCQCADIBFPDQAgAyAKIAUoAgAgAHRBACAOa3ZBAnRqIgItAAA6AAAgAi0AA0EBRgRAIAUoAgQgAi0AAmohAAwBCyAFKAIEIgBBH0sNAEEgIAAgAi0AAmoiACAAQSBPGyEAC0FsQWxBbEFsQWxBbEFsQWwgASAAQSBHGyAFKAIIIAUoAgxHGyAFKAIYQSBHGyAFKAIcIAUoAiBHGyAFKAIsQSBHGyAFKAIwIAUoAjRHGyAFKAJAQSBHGyAFKAJEIAUoAkhHGyEGDAELQWwhBgsgBUHQAGokACAGCxkAIAAoAgggACgCEEkEQEEDDwsgABAMQQAL8xwBFn8jAEHQAGsiBSQAQWwhCAJAIAFBBkkgA0EKSXINAAJAIAMgAi8ABCIGIAIvAAAiCiACLwACIglqakEGaiISSQ0AIAAgAUEDakECdiILaiIHIAtqIg4gC2oiCyAAIAFqIg9LDQAgBC8BAiEMIAVBPGogAkEGaiICIAoQCCIIQYh/Sw0BIAVBKGogAiAKaiICIAkQCCIIQYh/Sw0BIAVBFGogAiAJaiICIAYQCCIIQYh/Sw0BIAUgAiAGaiADIBJrEAgiCEGIf0sNASAEQQRqIQogD0EDayESAkAgDyALa0EESQRAIAshAyAOIQIgByEEDAELQQAgDGtBH3EhCEEAIQYgCyEDIA4hAiAHIQQDQCAGQQFxIAMgEk9yDQEgCiAFKAI8IgYgBSgCQCIJdCAIdkEBdGoiDS0AACEQIAAgDS0AAToAACAKIAUoAigiDSAFKAIsIhF0IAh2QQF0aiITLQAAIRUgBCATLQABOgAAIAogBSgCFCITIAUoAhgiFnQgCHZBAXRqIhQtAAAhFyACIBQtAAE6AAAgCiAFKAIAIhQgBSgCBCIYdCAIdkEBdGoiGS0AACEaIAMgGS0AAToAACAKIAYgCSAQaiIGdCAIdkEBdGoiCS0AASEQIAUgBiAJLQAAajYCQCAAIBA6AAEgCiANIBEgFWoiBnQgCHZBAXRqIgktAAEhDSAFIAYgCS0AAGo2AiwgBCANOgABIAogEyAWIBdqIgZ0IAh2QQF0aiIJLQABIQ0gBSAGIAktAABqNgIYIAIgDToAASAKIBQgGCAaaiIGdCAIdkEBdGoiCS0AASENIAUgBiAJLQAAajYCBCADIA06AAEgA0ECaiEDIAJBAmohAiAEQQJqIQQgAEECaiEAIAVBPGoQEyAFQShqEBNyIAVBFGoQE3IgBRATckEARyEGDAALAAsgACAHSyAEIA5Lcg0AQWwhCCACIAtLDQECQCAHIABrQQROBEAgB0EDayEQQQAgDGtBH3EhDQNAIAUoAkAiBkEhTwRAIAVBsBo2AkQMAwsgBQJ/IAUoAkQiCCAFKAJMTwRAIAUgCCAGQQN2ayIINgJEQQEhCSAGQQdxDAELIAggBSgCSCIJRg0DIAUgCCAGQQN2IhEgCCAJayAIIBFrIAlPIgkbIhFrIgg2AkQgBiARQQN0awsiBjYCQCAFIAgoAAAiCDYCPCAJRSAAIBBPcg0CIAogCCAGdCANdkEBdGoiCC0AASEJIAUgBiAILQAAajYCQCAAIAk6AAAgCiAFKAI8IAUoAkAiBnQgDXZBAXRqIggtAAEhCSAFIAYgCC0AAGo2AkAgACAJOgABIABBAmohAAwACwALIAUoAkAiBkEhTwRAIAVBsBo2AkQMAQsgBSgCRCIJIAUoAkxPBEAgBSAGQQdxIgg2AkAgBSAJIAZBA3ZrIgY2AkQgBSAGKAAANgI8IAghBgwBCyAJIAUoAkgiCEYNACAFIAYgCSAIayAGQQN2IgYgCSAGayAISRsiCEEDdGsiBjYCQCAFIAkgCGsiCDYCRCAFIAgoAAA2AjwLQQAgDGtBH3EhCANAAkAgBkEhTwRAIAVBsBo2AkQMAQsgBQJ/IAUoAkQiCSAFKAJMTwRAIAUgCSAGQQN2ayIMNgJEQQEhCSAGQQdxDAELIAkgBSgCSCIMRg0BIAUgCSAGQQN2Ig0gCSAMayAJIA1rIAxPIgkbIg1rIgw2AkQgBiANQQN0awsiBjYCQCAFIAwoAAAiDDYCPCAJRSAAIAdPcg0AIAogDCAGdCAIdkEBdGoiCS0AASEMIAUgBiAJLQAAajYCQCAAIAw6AAAgAEEBaiEAIAUoAkAhBgwBCwsDQCAAIAdPRQRAIAogBSgCPCAFKAJAIgZ0IAh2QQF0aiIJLQABIQwgBSAGIAktAABqNgJAIAAgDDoAACAAQQFqIQAMAQsLAkAgDiAEa0EETgRAIA5BA2shCQNAIAUoAiwiAEEhTwRAIAVBsBo2AjAMAwsgBQJ/IAUoAjAiByAFKAI4TwRAIAUgByAAQQN2ayIGNgIwQQEhByAAQQdxDAELIAcgBSgCNCIGRg0DIAUgByAAQQN2IgwgByAGayAHIAxrIAZPIgcbIgxrIgY2AjAgACAMQQN0awsiADYCLCAFIAYoAAAiBjYCKCAHRSAEIAlPcg0CIAogBiAAdCAIdkEBdGoiBy0AASEGIAUgACAHLQAAajYCLCAEIAY6AAAgCiAFKAIoIAUoAiwiAHQgCHZBAXRqIgctAAEhBiAFIAAgBy0AAGo2AiwgBCAGOgABIARBAmohBAwACwALIAUoAiwiAEEhTwRAIAVBsBo2AjAMAQsgBSgCMCIGIAUoAjhPBEAgBSAAQQdxIgc2AiwgBSAGIABBA3ZrIgA2AjAgBSAAKAAANgIoIAchAAwBCyAGIAUoAjQiB0YNACAFIAAgBiAHayAAQQN2IgAgBiAAayAHSRsiB0EDdGsiADYCLCAFIAYgB2siBzYCMCAFIAcoAAA2AigLA0ACQCAAQSFPBEAgBUGwGjYCMAwBCyAFAn8gBSgCMCIHIAUoAjhPBEAgBSAHIABBA3ZrIgY2AjBBASEHIABBB3EMAQsgByAFKAI0IgZGDQEgBSAHIABBA3YiCSAHIAZrIAcgCWsgBk8iBxsiCWsiBjYCMCAAIAlBA3RrCyIANgIsIAUgBigAACIGNgIoIAdFIAQgDk9yDQAgCiAGIAB0IAh2QQF0aiIHLQABIQYgBSAAIActAABqNgIsIAQgBjoAACAEQQFqIQQgBSgCLCEADAELCwNAIAQgDk9FBEAgCiAFKAIoIAUoAiwiAHQgCHZBAXRqIgctAAEhBiAFIAAgBy0AAGo2AiwgBCAGOgAAIARBAWohBAwBCwsCQCALIAJrQQROBEAgC0EDayEOA0AgBSgCGCIAQSFPBEAgBUGwGjYCHAwDCyAFAn8gBSgCHCIEIAUoAiRPBEAgBSAEIABBA3ZrIgQ2AhxBASEGIABBB3EMAQsgBCAFKAIgIgdGDQMgBSAEIABBA3YiBiAEIAdrIAQgBmsgB08iBhsiB2siBDYCHCAAIAdBA3RrCyIANgIYIAUgBCgAACIENgIUIAZFIAIgDk9yDQIgCiAEIAB0IAh2QQF0aiIELQABIQcgBSAAIAQtAABqNgIYIAIgBzoAACAKIAUoAhQgBSgCGCIAdCAIdkEBdGoiBC0AASEHIAUgACAELQAAajYCGCACIAc6AAEgAkECaiECDAALAAsgBSgCGCIAQSFPBEAgBUGwGjYCHAwBCyAFKAIcIgcgBSgCJE8EQCAFIABBB3EiBDYCGCAFIAcgAEEDdmsiADYCHCAFIAAoAAA2AhQgBCEADAELIAcgBSgCICIERg0AIAUgACAHIARrIABBA3YiACAHIABrIARJGyIEQQN0ayIANgIYIAUgByAEayIENgIcIAUgBCgAADYCFAsDQAJAIABBIU8EQCAFQbAaNgIcDAELIAUCfyAFKAIcIgQgBSgCJE8EQCAFIAQgAEEDdmsiBDYCHEEBIQYgAEEHcQwBCyAEIAUoAiAiB0YNASAFIAQgAEEDdiIOIAQgB2sgBCAOayAHTyIGGyIHayIENgIcIAAgB0EDdGsLIgA2AhggBSAEKAAAIgQ2AhQgBkUgAiALT3INACAKIAQgAHQgCHZBAXRqIgQtAAEhByAFIAAgBC0AAGo2AhggAiAHOgAAIAJBAWohAiAFKAIYIQAMAQsLA0AgAiALT0UEQCAKIAUoAhQgBSgCGCIAdCAIdkEBdGoiBC0AASEHIAUgACAELQAAajYCGCACIAc6AAAgAkEBaiECDAELCwJAIA8gA2tBBE4EQANAIAUoAgQiAEEhTwRAIAVBsBo2AggMAwsgBQJ/IAUoAggiAiAFKAIQTwRAIAUgAiAAQQN2ayIENgIIQQEhAiAAQQdxDAELIAIgBSgCDCIERg0DIAUgAiAAQQN2IgsgAiAEayACIAtrIARPIgIbIgtrIgQ2AgggACALQQN0awsiADYCBCAFIAQoAAAiBDYCACACRSADIBJPcg0CIAogBCAAdCAIdkEBdGoiAi0AASEEIAUgACACLQAAajYCBCADIAQ6AAAgCiAFKAIAIAUoAgQiAHQgCHZBAXRqIgItAAEhBCAFIAAgAi0AAGo2AgQgAyAEOgABIANBAmohAwwACwALIAUoAgQiAEEhTwRAIAVBsBo2AggMAQsgBSgCCCIEIAUoAhBPBEAgBSAAQQdxIgI2AgQgBSAEIABBA3ZrIgA2AgggBSAAKAAANgIAIAIhAAwBCyAEIAUoAgwiAkYNACAFIAAgBCACayAAQQN2IgAgBCAAayACSRsiAkEDdGsiADYCBCAFIAQgAmsiAjYCCCAFIAIoAAA2AgALA0ACQCAAQSFPBEAgBUGwGjYCCAwBCyAFAn8gBSgCCCICIAUoAhBPBEAgBSACIABBA3ZrIgQ2AghBASECIABBB3EMAQsgAiAFKAIMIgRGDQEgBSACIABBA3YiCyACIARrIAIgC2sgBE8iAhsiC2siBDYCCCAAIAtBA3RrCyIANgIEIAUgBCgAACIENgIAIAJFIAMgD09yDQAgCiAEIAB0IAh2QQF0aiICLQABIQQgBSAAIAItAABqNgIEIAMgBDoAACADQQFqIQMgBSgCBCEADAELCwNAIAMgD09FBEAgCiAFKAIAIAUoAgQiAHQgCHZBAXRqIgItAAEhBCAFIAAgAi0AAGo2AgQgAyAEOgAAIANBAWohAwwBCwtBbEFsQWxBbEFsQWxBbEFsIAEgBSgCBEEgRxsgBSgCCCAFKAIMRxsgBSgCGEEgRxsgBSgCHCAFKAIgRxsgBSgCLEEgRxsgBSgCMCAFKAI0RxsgBSgCQEEgRxsgBSgCRCAFKAJIRxshCAwBC0FsIQgLIAVB0ABqJAAgCAsaACAABEAgAQRAIAIgACABEQIADwsgABACCwtSAQN/AkAgACgCmOsBIgFFDQAgASgCACABKAK01QEiAiABKAK41QEiAxAVIAIEQCADIAEgAhECAAwBCyABEAILIABBADYCqOsBIABCADcDmOsBC5QFAgR/An4jAEEQayIGJAACQCABIAJFckUEQEF/IQQMAQsCQEEBQQUgAxsiBCACSwRAIAJFIANBAUZyDQIgBkGo6r5pNgIMIAJFIgBFBEAgBkEMaiABIAL8CgAACyAGKAIMQajqvmlGDQIgBkHQ1LTCATYCDCAARQRAIAZBDGogASAC/AoAAAsgBigCDEFwcUHQ1LTCAUYNAgwBCyAAQQBBMPwLAEEBIQUCQCADQQFGDQAgAyEFIAEoAAAiA0Go6r5pRg0AIANBcHFB0NS0wgFHDQFBCCEEIAJBCEkNAiAAQQE2AhQgASgAACECIABBCDYCGCAAIAJB0NS0wgFrNgIcIAAgATUABDcDAEEAIQQMAgsgAiABIAIgBRAYIgJJBEAgAiEEDAILIAAgAjYCGCABIARqIgVBAWstAAAiAkEIcQRAQXIhBAwCCyACQSBxIgNFBEAgBS0AACIFQacBSwRAQXAhBAwDCyAFQQdxrUIBIAVBA3ZBCmqthiIIQgOIfiAIfCEJIARBAWohBAsgAkEGdiEFIAJBAnYhBwJAAkACQAJAIAJBA3EiAkEBaw4DAAECAwsgASAEai0AACECIARBAWohBAwCCyABIARqLwAAIQIgBEECaiEEDAELIAEgBGooAAAhAiAEQQRqIQQLIAdBAXEhBwJ+AkACQAJAAkAgBUEBaw4DAQIDAAtCfyADRQ0DGiABIARqMQAADAMLIAEgBGozAABCgAJ8DAILIAEgBGo1AAAMAQsgASAEaikAAAshCCAAIAc2AiAgACACNgIcIAAgCDcDAEEAIQQgAEEANgIUIAAgCCAJIAMbIgg3AwggAEKAgAggCCAIQoCACFobPgIQDAELQXYhBAsgBkEQaiQAIAQLXwEBf0G4fyEDIAFBAUEFIAIbIgFPBH8gACABakEBay0AACIAQQNxQQJ0QcAaaigCACABaiAAQQR2QQxxQdAaaigCAGogAEEgcSIBRWogAUEFdiAAQcAASXFqBUG4fwsLxAICBH8CfiMAQUBqIgQkAAJAA0AgAUEFTwRAAkAgACgAAEFwcUHQ1LTCAUYEQEJ+IQYgAUEISQ0EIAAoAAQiA0F3Sw0EIANBCGoiAiABSw0EIANBgX9JDQEMBAsgBEEQaiIDIAAgAUEAEBchAkJ+IAQpAxBCACAEKAIkQQFHGyACGyIGQn1WDQMgBiAHfCIHIAZUIQJCfiEGIAINAyADIAAgAUEAEBciAkGIf0sgAnINAyABIAQoAigiA2shAiAAIANqIQMDQCADIAIgBEEEahAaIgVBiH9LDQQgAiAFQQNqIgVJDQQgAiAFayECIAMgBWohAyAEKAIIRQ0ACyAEKAIwBH8gAkEESQ0EIANBBGoFIAMLIABrIgJBiH9LDQMLIAEgAmshASAAIAJqIQAMAQsLQn4gByABGyEGCyAEQUBrJAAgBgtkAQF/Qbh/IQMCQCABQQNJDQAgAC0AAiEBIAIgAC8AACIAQQFxNgIEIAIgAEEBdkEDcSIDNgIAIAIgACABQRB0ckEDdiIANgIIAkACQCADQQFrDgMCAQABC0FsDwsgACEDCyADC7ABAAJ/IAIgACgClOsBBH8gACgC0OkBBUGAgAgLIgIgA2pBQGtLBEAgACABIAJqQSBqIgE2AvzrAUEBIQIgASADagwBCyADQYCABE0EQCAAIABBiOwBaiIBNgL86wFBACECIAEgA2oMAQsgACABIARqIgEgA2siAkHg/wNqIgQgAiAFGzYC/OsBQQIhAiADIARqQYCABGsgASAFGwshAyAAIAI2AoTsASAAIAM2AoDsAQuyBwIEfwF+IwBBgAFrIg4kACAOIAM2AnwCQAJAAkACQAJAAkAgAkEBaw4DAAMCAQsgBkUEQEG4fyEKDAULIAMgBS0AACICSQ0DIAIgCGotAAAhAyAHIAJBAnRqKAIAIQIgAEEAOgALIABCADcCACAAIAI2AgwgACADOgAKIABBADsBCCABIAA2AgBBASEKDAQLIAEgCTYCAEEAIQoMAwsgCkUNAUEAIQogC0UgDEEZSXINAkEIIAR0QQhyIQBBACEDA0AgACADTQ0DIANBQGshAwwACwALQWwhCiAOIA5B/ABqIA5B+ABqIAUgBhAGIgNBiH9LDQEgDigCeCICIARLDQEgAEEMaiEMIA4oAnxBAWohEUGAgAIgAnRBEHYhEEEAIQRBASEFQQEgAnQiCkEBayILIQkDQCAEIBFHBEACQCAOIARBAXQiD2ovAQAiBkH//wNGBEAgDCAJQQN0aiAENgIAIAlBAWshCUEBIQYMAQsgBUEAIBAgBsFKGyEFCyANIA9qIAY7AQAgBEEBaiEEDAELCyAAIAI2AgQgACAFNgIAAkAgCSALRgRAIA1B6gBqIRBBACEJQQAhBQNAIAkgEUYEQCAKQQN2IApBAXZqQQNqIglBAXQhEUEAIQZBACEFA0AgBSAKTw0EIAUgEGohD0EAIQQDQCAEQQJHBEAgDCAEIAlsIAZqIAtxQQN0aiAEIA9qLQAANgIAIARBAWohBAwBCwsgBUECaiEFIAYgEWogC3EhBgwACwAFIA4gCUEBdGouAQAhBiAFIBBqIg8gEjcAAEEIIQQDQCAEIAZIBEAgBCAPaiASNwAAIARBCGohBAwBCwsgEkKBgoSIkKDAgAF8IRIgCUEBaiEJIAUgBmohBQwBCwALAAsgCkEDdiAKQQF2akEDaiEQQQAhBUEAIQYDQCAFIBFGDQFBACEEIA4gBUEBdGouAQAiD0EAIA9BAEobIQ8DQCAEIA9HBEAgDCAGQQN0aiAFNgIAA0AgBiAQaiALcSIGIAlLDQALIARBAWohBAwBCwsgBUEBaiEFDAALAAsgAEEIaiEJIAJBH2shC0EAIQYDQCAGIApHBEAgDSAJIAZBA3RqIgIoAgQiBEEBdGoiBSAFLwEAIgVBAWo7AQAgAiALIAVnaiIMOgADIAIgBSAMdCAKazsBACACIAQgCGotAAA6AAIgAiAHIARBAnRqKAIANgIEIAZBAWohBgwBCwsgASAANgIAIAMhCgwBC0FsIQoLIA5BgAFqJAAgCgtwAQR/IABCADcCACACBEAgAUEKaiEGIAEoAgQhBEEAIQJBACEBA0AgASAEdkUEQCACIAYgAUEDdGotAAAiBSACIAVLGyECIAFBAWohASADIAVBFktqIQMMAQsLIAAgAjYCBCAAIANBCCAEa3Q2AgALC64BAQR/IAEgAigCBCIDIAEoAgRqIgQ2AgQgACADQQJ0QbAZaigCACABKAIAQQAgBGt2cTYCAAJAIARBIU8EQCABQbAaNgIIDAELIAEoAggiAyABKAIQTwRAIAEQDAwBCyADIAEoAgwiBUYNACABIAMgAyAFayAEQQN2IgYgAyAGayAFSRsiA2siBTYCCCABIAQgA0EDdGs2AgQgASAFKAAANgIACyAAIAJBCGo2AgQLjQICA38BfiAAIAJqIQQCQAJAIAJBCE4EQCAAIAFrIgJBeUgNAQsDQCAAIARPDQIgACABLQAAOgAAIABBAWohACABQQFqIQEMAAsACwJAAkAgAkFvSw0AIAAgBEEgayICSw0AIAEpAAAhBiAAIAEpAAg3AAggACAGNwAAIAIgAGsiBUERTgRAIABBEGohACABIQMDQCADKQAQIQYgACADKQAYNwAIIAAgBjcAACADKQAgIQYgACADKQAoNwAYIAAgBjcAECADQSBqIQMgAEEgaiIAIAJJDQALCyABIAVqIQEMAQsgACECCwNAIAIgBE8NASACIAEtAAA6AAAgAkEBaiECIAFBAWohAQwACwALC98BAQZ/Qbp/IQoCQCACKAIEIgggAigCACIJaiINIAEgAGtLDQBBbCEKIAkgBCADKAIAIgtrSw0AIAAgCWoiBCACKAIIIgxrIQIgACABQSBrIgEgCyAJQQAQIyADIAkgC2o2AgACQAJAIAQgBWsgDE8EQCACIQUMAQsgDCAEIAZrSw0CIAcgByACIAVrIgNqIgIgCGpPBEAgCEUNAiAEIAIgCPwKAAAMAgtBACADayIABEAgBCACIAD8CgAACyADIAhqIQggBCADayEECyAEIAEgBSAIQQEQIwsgDSEKCyAKC+sBAQZ/Qbp/IQsCQCADKAIEIgkgAygCACIKaiINIAEgAGtLDQAgBSAEKAIAIgVrIApJBEBBbA8LIAMoAgghDCAAIAVLIAUgCmoiDiAAS3ENACAAIApqIgMgDGshASAAIAUgChAfIAQgDjYCAAJAAkAgAyAGayAMTwRAIAEhBgwBC0FsIQsgDCADIAdrSw0CIAggCCABIAZrIgBqIgEgCWpPBEAgCUUNAiADIAEgCfwKAAAMAgtBACAAayIEBEAgAyABIAT8CgAACyAAIAlqIQkgAyAAayEDCyADIAIgBiAJQQEQIwsgDSELCyALC6sCAQJ/IAJBH3EhAyABIQQDQCADQQhJRQRAIANBCGshAyAEKQAAQs/W077Sx6vZQn5CH4lCh5Wvr5i23puef34gAIVCG4lCh5Wvr5i23puef35CnaO16oOxjYr6AH0hACAEQQhqIQQMAQsLIAEgAkEYcWohASACQQdxIgNBBEkEfyABBSADQQRrIQMgATUAAEKHla+vmLbem55/fiAAhUIXiULP1tO+0ser2UJ+Qvnz3fGZ9pmrFnwhACABQQRqCyEEA0AgAwRAIANBAWshAyAEMQAAQsXP2bLx5brqJ34gAIVCC4lCh5Wvr5i23puef34hACAEQQFqIQQMAQsLIABCIYggAIVCz9bTvtLHq9lCfiIAQh2IIACFQvnz3fGZ9pmrFn4iAEIgiCAAhQvhBAIBfgJ/IAAgA2ohBwJAIANBB0wEQANAIAAgB08NAiAAIAItAAA6AAAgAEEBaiEAIAJBAWohAgwACwALIAQEQAJAIAAgAmsiBkEHTQRAIAAgAi0AADoAACAAIAItAAE6AAEgACACLQACOgACIAAgAi0AAzoAAyAAIAIgBkECdCIGQeAaaigCAGoiAigAADYABCACIAZBgBtqKAIAayECDAELIAAgAikAADcAAAsgA0EIayEDIAJBCGohAiAAQQhqIQALIAEgB08EQCAAIANqIQEgBEUgACACa0EPSnJFBEADQCAAIAIpAAA3AAAgAkEIaiECIABBCGoiACABSQ0ADAMLAAsgAikAACEFIAAgAikACDcACCAAIAU3AAAgA0ERSQ0BIABBEGohAANAIAIpABAhBSAAIAIpABg3AAggACAFNwAAIAIpACAhBSAAIAIpACg3ABggACAFNwAQIAJBIGohAiAAQSBqIgAgAUkNAAsMAQsCQCAAIAFLBEAgACEBDAELIAEgAGshBgJAIARFIAAgAmtBD0pyRQRAIAIhAwNAIAAgAykAADcAACADQQhqIQMgAEEIaiIAIAFJDQALDAELIAIpAAAhBSAAIAIpAAg3AAggACAFNwAAIAZBEUgNACAAQRBqIQAgAiEDA0AgAykAECEFIAAgAykAGDcACCAAIAU3AAAgAykAICEFIAAgAykAKDcAGCAAIAU3ABAgA0EgaiEDIABBIGoiACABSQ0ACwsgAiAGaiECCwNAIAEgB08NASABIAItAAA6AAAgAUEBaiEBIAJBAWohAgwACwALC6HFAQI2fwV+IwBBEGsiMSQAAkBBwOwFEAEiCEUEQEFAIQYMAQsgCEIANwL86gEgCEEANgKc6wEgCEEANgKQ6wEgCEEANgLU6wEgCEEANgLE6wEgCEIANwKk6wEgCEEANgK46QEgCEEANgK87AUgCEIANwK86wEgCEEANgKs6wEgCEIBNwKU6wEgCEIANwPo6wEgCEGBgIDAADYCzOsBIAhCADcC7OoBIAhCADcDsOsBIAhBADYCuOsBIAhBhOsBakEANgIAIAgQFiAIQbjqAWohNCAIQcDpAWohNiAIQZDqAWohNyAAISwCQAJAAkACQANAQQFBBSAIKALs6gEiCxshEwJAA0AgAyATSQ0BAkAgA0EESSALcg0AIAIoAABBcHFB0NS0wgFHDQBBuH8hBiADQQhJDQcgAigABCIHQXdLBEBBciEGDAgLIAMgB0EIaiIESQ0HIAdBgH9LBEAgBCEGDAgLIAMgBGshAyACIARqIQIMAQsLIAhCADcCrOkBIAhCADcD8OkBIAhBjICA4AA2AqhQIAhBADYCoOsBIAhCADcDiOoBIAhBATYClOsBIAhCAzcDgOoBIAhBtOkBakIANwIAIAhB+OkBakIANwMAIAhB9A4pAgA3AqzQASAIQbTQAWpB/A4oAgA2AgAgCCAIQRBqNgIAIAggCEGgMGo2AgQgCCAIQZggajYCCCAIIAhBqNAAajYCDCAIQQFBBSAIKALs6gEbNgK86QECQCABRQ0AICwgCCgCrOkBIgZGDQAgCCAGNgK46QEgCCAsNgKs6QEgCCgCsOkBIQQgCCAsNgKw6QEgCCAsIAQgBmtqNgK06QELQbh/IQYgA0EFQQkgCCgC7OoBIhMbSQ0FIAJBAUEFIBMbIBMQGCIEQYh/Sw0EIAMgBEEDakkNBSA2IAIgBCATEBciBkGIf0sEQCAGIQQMBQsgBg0DAkACQCAIKAKw6wFBAUcNACAIKAKs6wEiC0UNACAIKAKc6wFFDQAgCygCBCEGIDEgCCgC3OkBIgo2AgQgBkEBayIHQsnP2bLx5brqJyAxQQRqQQQQIqdxIRMgCygCACELA0AgCiALIBNBAnRqKAIAIgwEfyAMKAKo1QEFQQALIgZHBEAgByATcUEBaiETIAYNAQsLIAxFDQAgCBAWIAhBfzYCqOsBIAggDDYCnOsBIAggCCgC3OkBIhM2AqDrAQwBCyAIKALc6QEhEwsCQCATRQ0AIAgoAqDrASATRg0AQWAhBAwFCwJAIAgoAuDpAQRAIAggCCgC8OoBIgZFNgL06gEgBg0BIDdBAEHYAPwLACAIQvnq0NDnyaHk4QA3A7DqASAIQs/W077Sx6vZQjcDoOoBIAhC1uuC7ur9ifXgADcDmOoBDAELIAhBADYC9OoBCyAIIAgpA/DpASAErXw3A/DpASAIKAK46wEiEwRAIAggCCgC0OkBIgYgEyAGIBNJGzYC0OkBCyABICxqITUgAyAEayEDIAIgBGohAiAsIRMDQCACIAMgMUEEahAaIiBBiH9LBEAgICEEDAYLIANBA2siOCAgSQ0EIAJBA2oiHSA1IB0gNUkbIDUgEyAdTRshAkFsIQQCQAJAAkACQAJAAkACQAJAIDEoAgQOAwECAA0LIAIgE2shFEEAITMjAEHQAmsiBSQAAkACQCAIKAKU6wEiAgR/IAgoAtDpAQVBgIAICyAgSQ0AAkAgIEECSQ0AIB0tAAAiA0EDcSEaIAIEfyAIKALQ6QEFQYCACAshBgJAAkACQAJAAkACQAJAAkACQAJAIBpBAWsOAwMBAAILIAgoAojqAQ0AQWIhAwwLCyAgQQVJDQhBAyEMIB0oAAAhBAJ/An8CQAJAAkAgA0ECdkEDcSICQQJrDgIBAgALIARBDnZB/wdxIQ0gBEEEdkH/B3EhECACQQBHDAMLIARBEnYhDSAEQQR2Qf//AHEhEEEEDAELIB0tAARBCnQgBEEWdnIhDSAEQQR2Qf//D3EhEEEFCyEMQQELIQRBun8hAyATQQEgEBtFDQogBiAQSQ0IIBBBBkkgBHEEQEFoIQMMCwsgDCANaiIKICBLDQggBiAUIAYgFEkbIgIgEEkNCiAIIBMgFCAQIAJBABAbAkAgCCgCpOsBRSAQQYEGSXINAEEAIQMDQCADQYOAAUsNASADQUBrIQMMAAsACyAaQQNGBEAgDCAdaiEGIAgoAgwiCy0AAUEIdCECIAgoAvzrASEDIARFBEAgAgRAIAVB4AFqIAYgDRAIIg5BiH9LDQkgC0EEaiEZIAMgEGohESALLwECIQkgEEEETwRAIBFBA2shBkEAIAlrQR9xIQcgBSgC6AEhDCAFKALsASEPIAUoAvABIQQgBSgC4AEhDSAFKALkASEOA0AgDkEgSwRAQbAaIQwMCgsCQCAEIAxNBEAgDkEHcSESIA5BA3YhDUEBIQ4MAQsgDCAPRg0KIA4gDkEDdiICIAwgD2sgDCACayAPTyIOGyINQQN0ayESCyAMIA1rIgwoAAAhDSAORSADIAZPcg0IIAMgGSANIBJ0IAd2QQJ0aiICLwEAOwAAIAMgAi0AA2oiAyAZIA0gEiACLQACaiICdCAHdkECdGoiCy8BADsAACADIAstAANqIQMgAiALLQACaiEODAALAAsgBSgC5AEiDkEhTwRAIAVBsBo2AugBDAkLIAUoAugBIgYgBSgC8AFPBEAgBSAOQQdxIgI2AuQBIAUgBiAOQQN2ayIENgLoASAFIAQoAAA2AuABIAIhDgwJCyAGIAUoAuwBIgRGDQggBSAOIAYgBGsgDkEDdiICIAYgAmsgBEkbIgJBA3RrIg42AuQBIAUgBiACayICNgLoASAFIAIoAAA2AuABDAgLIAMgECAGIA0gCxARIQ4MCAsgAgRAIAMgECAGIA0gCxASIQ4MCAsgAyAQIAYgDSALEBQhDgwHCyAIQazVAWohFyAMIB1qISEgCEGo0ABqIQcgCCgC/OsBIRYgBEUEQCAHICEgDSAXEA4iDkGIf0sNByANIA5NDQMgFiAQIA4gIWogDSAOayAHEBEhDgwHCyAQRQRAQbp/IQ4MBwsgDUUEQEFsIQ4MBwsgEEEIdiIDIA0gEEkEfyANQQR0IBBuBUEPC0EEdCIEQYwIaigCAGwgBEGICGooAgBqIgJBBXYgAmogBEGACGooAgAgBEGECGooAgAgA2xqSQRAIwBBEGsiLSQAIAcoAgAhESAXQfAEaiIeQQBB8AD8CwBBVCEDAkAgEUH/AXEiL0EMSw0AIBdB4AdqIgkgHiAtQQhqIC1BDGogISANIBdB4AlqEAciBEGIf00EQCAtKAIMIgsgL0sNASAXQagFaiEZIBdBpAVqITAgB0EEaiEbIBFBgICAeHEhJCALQQFqIjIhAyALIQYDQCADIgJBAWshAyAGIgxBAWshBiAeIAxBAnRqKAIARQ0AC0EBIAIgAkEBTRshDkEAIQZBASEDA0AgAyAORwRAIB4gA0ECdCIPaigCACECIA8gGWogBjYCACADQQFqIQMgAiAGaiEGDAELCyAXIAY2AqgFIBkgDEEBaiIfQQJ0aiAGNgIAIBdB4AVqISZBACEDIC0oAgghBgNAIAMgBkcEQCAZIAMgCWotAABBAnRqIgIgAigCACICQQFqNgIAIAIgJmogAzoAACADQQFqIQMMAQsLQQAhBiAZQQA2AgBBCyAvIBFB/wFxQQxGGyAvIAtBDEkbIikgC0F/c2ohD0EBIQMDQCADIA5HBEAgHiADQQJ0IgtqKAIAIQIgCyAXaiAGNgIAIAIgAyAPanQgBmohBiADQQFqIQMMAQsLICkgMiAMayILa0EBaiEJIAshBgNAIAYgCUkEQCAXIAZBNGxqIQ9BASEDA0AgAyAORwRAIA8gA0ECdCICaiACIBdqKAIAIAZ2NgIAIANBAWohAwwBCwsgBkEBaiEGDAELCyAyIClrIRUgDEEAIAxBAEobQQFqISdBASEuA0AgJyAuRwRAIDIgLmshBiAXIC5BAnQiAmooAgAhJSACIDBqKAIAISogMCAuQQFqIi5BAnRqKAIAIRggCyApIAZrIgNNBEAgHyAGIBVqIgJBASACQQFKIhIbIgIgAiAfSBshHCAXIAZBNGxqIh4gAkECdGohGSAGIDJqIREgBkEQdEGAgIAIaiEOQQEgA3QiCUECayEPA0AgGCAqRg0DIBsgJUECdGohKCAmICpqLQAAISsgAiEDIBIEQCAOICtyrUKBgICAEH4hOiAZKAIAIQZBACEDAkACQAJAAkAgDw4DAQIAAgsgKCA6NwEICyAoIDo3AQAMAQsDQCADIAZODQEgKCADQQJ0aiIMIDo3ARggDCA6NwEQIAwgOjcBCCAMIDo3AQAgA0EIaiEDDAALAAsgAiEDCwNAIAMgHEcEQCARIANrIQwgKCAeIANBAnQiBmooAgBBAnRqICYgBiAwaigCAGogJiAwIANBAWoiA0ECdGooAgBqIAwgKSArQQIQDwwBCwsgKkEBaiEqIAkgJWohJQwACwAFIBsgJUECdGogJiAqaiAYICZqIAYgKUEAQQEQDwwCCwALCyAHIClBEHQgJHIgL3JBgAJyNgIACyAEIQMLIC1BEGokACADIg5BiH9LDQcgAyANTw0DIBYgECADICFqIA0gA2sgBxASIQ4MBwsgByAhIA0gFxAOIg5BiH9LDQYgDSAOTQ0CIBYgECAOICFqIA0gDmsgBxAUIQ4MBgtBAiEQAn8CQAJAAkAgA0ECdkEDcUEBaw4DAQACAAtBASEQIANBA3YMAgsgHS8AAEEEdgwBCyAgQQJGDQhBAyEQIB0vAAAgHS0AAkEQdHJBBHYLIQtBun8hAyATQQEgCxtFDQkgBiALSQ0HIAsgFEsNCSAIIBMgFCALIAYgFCAGIBRJG0EBEBsgICALIBBqIgpBIGpJBEAgCiAgSw0IIBAgHWohBCAIKAL86wEhAwJAIAgoAoTsAUECRgRAIAtBgIAEayICBEAgAyAEIAL8CgAACyAIQYjsAWogAiAEakGAgAT8CgAADAELIAtFDQAgAyAEIAv8CgAACyAIIAs2AojrASAIIAgoAvzrATYC+OoBDAcLIAhBADYChOwBIAggCzYCiOsBIAggECAdaiICNgL46gEgCCACIAtqNgKA7AEMBgsCfwJAAkACQCADQQJ2QQNxQQFrDgMBAAIAC0EBIRAgA0EDdgwCCyAgQQJGDQhBAiEQIB0vAABBBHYMAQsgIEEESQ0HQQMhECAdLwAAIB0tAAJBEHRyQQR2CyELQbp/IQMgE0EBIAsbRQ0IIAYgC0kNBiALIBRLDQggCCATIBQgCyAGIBQgBiAUSRtBARAbIBAgHWoiAy0AACEGIAgoAvzrASEEAkAgCCgChOwBQQJGBEAgC0GAgARrIgIEQCAEIAYgAvwLAAsgCEGI7AFqIAMtAABBgIAE/AsADAELIAtFDQAgBCAGIAv8CwALIAggCzYCiOsBIAggCCgC/OsBNgL46gEgEEEBaiEKDAULQbh/IQ4MAwsgEiEOCyAFIA42AuQBIAUgDDYC6AEgBSANNgLgAQsCQCARIANrQQJJDQAgEUECayELQQAgCWtBH3EhBgNAAkAgDkEhTwRAIAVBsBo2AugBDAELIAUCfyAFKALoASIHIAUoAvABTwRAIAUgByAOQQN2ayIMNgLoAUEBISUgDkEHcQwBCyAHIAUoAuwBIgRGDQEgBSAHIA5BA3YiAiAHIARrIAcgAmsgBE8iJRsiAmsiDDYC6AEgDiACQQN0awsiDjYC5AEgBSAMKAAAIgI2AuABICVFIAMgC0tyDQAgAyAZIAIgDnQgBnZBAnRqIgIvAQA7AAAgBSAFKALkASACLQACaiIONgLkASADIAItAANqIQMMAQsLA0AgAyALSw0BIAMgGSAFKALgASAOdCAGdkECdGoiAi8BADsAACAFIAUoAuQBIAItAAJqIg42AuQBIAMgAi0AA2ohAwwACwALAkAgAyARTw0AIAMgGSAFKALgASAOdEEAIAlrdkECdGoiAi0AADoAACACLQADQQFGBEAgBSgC5AEgAi0AAmohDgwBCyAFKALkASIOQR9LDQBBICAOIAItAAJqIgIgAkEgTxshDgtBbEFsIBAgDkEgRxsgBSgC6AEgBSgC7AFHGyEOCyAIKAKE7AFBAkYEQCAIQYjsAWogCCgCgOwBQYCABGtBgIAE/AoAACAQQYCABGsiAwRAIAgoAvzrASICQeD/A2ogAiAD/AoAAAsgCCAIKAL86wFB4P8DajYC/OsBIAggCCgCgOwBQSBrNgKA7AELIA5BiH9LDQEgCCAQNgKI6wEgCEEBNgKI6gEgCCAIKAL86wE2AvjqASAaQQJGBEAgCCAIQajQAGo2AgwLIAoiA0GIf0sNAwsgCCgClOsBBH8gCCgC0OkBBUGAgAgLIQwgCiAgRg0BICAgCmshCSAIKAK06QEhCyAdICBqIQ0gCCgCpOsBIQYCfwJAAn8gCiAdaiIRLQAAIg7AIgJBAE4EQCARQQFqDAELIAJBf0YEQCAJQQNJDQUgEUEDaiEEIBEvAAFBgP4BaiEODAILIAlBAUYNBCARLQABIA5BCHRyQYCAAmshDiARQQJqCyEEIA4NAEFsIQMgBCANRw0EQQAhDiAJDAELQbh/IQMgBEEBaiIPIA1LDQMgBC0AACIKQQNxDQEgCEEQaiAIIApBBnZBI0EJIA8gDSAPa0HADUHQDkGADyAIKAKM6gEgBiAOIAhBrNUBaiIHEBwiAkGIf0sNASAIQZggaiAIQQhqIApBBHZBA3FBH0EIIAIgD2oiBCANIARrQYAKQYALQZATIAgoAozqASAIKAKk6wEgDiAHEBwiAkGIf0sNAUFsIQMgCEGgMGogCEEEaiAKQQJ2QQNxQTRBCSACIARqIgQgDSAEa0GgC0GADUGgFSAIKAKM6gEgCCgCpOsBIA4gBxAcIgJBiH9LDQMgAiAEaiARawsiA0GIf0sNAgJAIBNBAEcgFEEAR3FFIA5BAEpxDQACQAJAIBMgFCAMIAwgFEsbIgJBACACQQBKG2ogC2siAkH8//8fTQRAIAYgAkGBgIAISXIgDkEJSHINAiAFQeABaiAIKAIIIA4QHQwBCyAFQeABaiAIKAIIIA4QHSAFKALkAUEZSyEzIAYNAQsgBSgC4AFBE0shBgsgCSADayEHIAMgEWohBCAIQQA2AqTrASAIKAKE7AEhAgJAIAYEQAJ/IAJBAUYEQCAIKAL86wEMAQsgEyAUQQAgFEEAShtqCyEUIAUgCCgC+OoBIgM2AswCIAgoAoDsASEcIA5FBEAgEyEJDAILIAgoArjpASEiIAgoArTpASEXIAgoArDpASELIAhBATYCjOoBIAhBrNABaiEyIAVB1AFqISZBACECA0AgAkEDRwRAICYgAkECdCIDaiADIDJqKAIANgIAIAJBAWohAgwBCwtBbCEDIAVBqAFqIgIgBCAHEAhBiH9LDQUgBUG8AWogAiAIKAIAEB4gBUHEAWogAiAIKAIIEB4gBUHMAWogAiAIKAIEEB5BCCAOIA5BCE4bIihBACAoQQBKGyElIA5BAWshGiATIAtrIS0gBSgCsAEhAiAFKALYASEGIAUoAtQBIRIgBSgCrAEhBCAFKAK0ASEjIAUoArgBISkgBSgCyAEhGCAFKALQASErIAUoAsABISQgBSgCqAEhCSAFKALEASEhIAUoAswBISogBSgCvAEhMCAzRSEVQQAhEANAIBIhESAQICVGBEAgBSAqNgLMASAFIDA2ArwBIAUgAjYCsAEgBSAhNgLEASAFIAk2AqgBIAhBmOwBaiEeIAhBiOwFaiEZIAhBiOwBaiEWIBRBIGshGyAzRSEnIBMhCQNAIA4gJUcEQCAFKALAASAFKAK8AUEDdGoiBi0AAiEfIAUoAtABIAUoAswBQQN0aiIELQACIRggBSgCyAEgBSgCxAFBA3RqIgItAAMhKyAELQADISQgBi0AAyEVIAIvAQAhEiAELwEAIREgBi8BACEKIAIoAgQhByAGKAIEIRAgBCgCBCEMAkAgAi0AAiINQQJPBEACQCAnIA1BGUlyRQRAIAcgBSgCqAEiDyAFKAKsASICdEEFIA1rdkEFdGohBwJAIAIgDWpBBWsiAkEhTwRAIAVBsBo2ArABDAELIAUoArABIgYgBSgCuAFPBEAgBSACQQdxIgQ2AqwBIAUgBiACQQN2ayICNgKwASAFIAIoAAAiDzYCqAEgBCECDAELIAYgBSgCtAEiBEYNACAFIAIgBiAEayACQQN2IgIgBiACayAESRsiBEEDdGsiAjYCrAEgBSAGIARrIgQ2ArABIAUgBCgAACIPNgKoAQsgBSACQQVqIgY2AqwBIAcgDyACdEEbdmohDQwBCyAFIAUoAqwBIgIgDWoiBjYCrAEgBSgCqAEgAnRBACANa3YgB2ohDSAGQSFPBEAgBUGwGjYCsAEMAQsgBSgCsAEiByAFKAK4AU8EQCAFIAZBB3EiAjYCrAEgBSAHIAZBA3ZrIgQ2ArABIAUgBCgAADYCqAEgAiEGDAELIAcgBSgCtAEiBEYNACAFIAYgByAEayAGQQN2IgIgByACayAESRsiAkEDdGsiBjYCrAEgBSAHIAJrIgI2ArABIAUgAigAADYCqAELIAUpAtQBITogBSANNgLUASAFIDo3AtgBDAELIBBFIQQgDUUEQCAmIBBBAEdBAnRqKAIAIQIgBSAmIARBAnRqKAIAIg02AtQBIAUgAjYC2AEgBSgCrAEhBgwBCyAFIAUoAqwBIgJBAWoiBjYCrAECQAJAIAQgB2ogBSgCqAEgAnRBH3ZqIgRBA0YEQCAFKALUAUEBayICQX8gAhshDQwBCyAmIARBAnRqKAIAIgJBfyACGyENIARBAUYNAQsgBSAFKALYATYC3AELIAUgBSgC1AE2AtgBIAUgDTYC1AELIBggH2ohBAJAIBhFBEAgBiECDAELIAUgBiAYaiICNgKsASAFKAKoASAGdEEAIBhrdiAMaiEMCwJAIARBFEkNACACQSFPBEAgBUGwGjYCsAEMAQsgBSgCsAEiBiAFKAK4AU8EQCAFIAJBB3EiBDYCrAEgBSAGIAJBA3ZrIgI2ArABIAUgAigAADYCqAEgBCECDAELIAYgBSgCtAEiBEYNACAFIAIgBiAEayACQQN2IgIgBiACayAESRsiBEEDdGsiAjYCrAEgBSAGIARrIgQ2ArABIAUgBCgAADYCqAELAkAgH0UEQCACIQQMAQsgBSACIB9qIgQ2AqwBIAUoAqgBIAJ0QQAgH2t2IBBqIRALAkAgBEEhTwRAQbAaIQIgBUGwGjYCsAEMAQsgBSgCsAEiAiAFKAK4AU8EQCAFIARBB3EiBjYCrAEgBSACIARBA3ZrIgI2ArABIAUgAigAADYCqAEgBiEEDAELIAIgBSgCtAEiB0YNACAFIAIgAiAHayAEQQN2IgYgAiAGayAHSRsiBmsiAjYCsAEgBSAEIAZBA3RrIgQ2AqwBIAUgAigAADYCqAELAkAgGiAlRg0AIAUgFUECdEGwGWooAgAgBSgCqAEiB0EAIAQgFWoiBGt2cSAKajYCvAEgBSAkQQJ0QbAZaigCACAHQQAgBCAkaiIEa3ZxIBFqNgLMAQJAIARBIU8EQEGwGiECIAVBsBo2ArABDAELIAUoArgBIAJNBEAgBSAEQQdxIgY2AqwBIAUgAiAEQQN2ayICNgKwASAFIAIoAAAiBzYCqAEgBiEEDAELIAIgBSgCtAEiCkYNACAFIAIgAiAKayAEQQN2IgYgAiAGayAKSRsiBmsiAjYCsAEgBSAEIAZBA3RrIgQ2AqwBIAUgAigAACIHNgKoAQsgBSAEICtqIgQ2AqwBIAUgK0ECdEGwGWooAgAgB0EAIARrdnEgEmo2AsQBIARBIU8EQCAFQbAaNgKwAQwBCyAFKAK4ASACTQRAIAUgBEEHcTYCrAEgBSACIARBA3ZrIgI2ArABIAUgAigAADYCqAEMAQsgAiAFKAK0ASIGRg0AIAUgBCACIAZrIARBA3YiBCACIARrIAZJGyIEQQN0azYCrAEgBSACIARrIgI2ArABIAUgAigAADYCqAELAkACQCAIKAKE7AFBAkYEQCAFKALMAiIHIAVB4AFqICVBB3FBDGxqIhUoAgAiAmoiCiAIKAKA7AEiBEsEQCAEIAdHBEAgBCAHayIEIBQgCWtLDQsgCSAHIAQQHyAVIAIgBGsiAjYCACAEIAlqIQkLIAUgFjYCzAIgCEEANgKE7AECQAJAAkAgAkGAgARKDQAgCSAVKAIEIhIgAmoiBmogG0sNACAGQSBqIBQgCWtNDQELIAUgFSgCCDYCgAEgBSAVKQIANwN4IAkgFCAFQfgAaiAFQcwCaiAZIAsgFyAiECAhBgwBCyACIBZqIQcgAiAJaiEEIBUoAgghESAWKQAAITogCSAWKQAINwAIIAkgOjcAAAJAIAJBEUkNACAeKQAAITogCSAeKQAINwAYIAkgOjcAECACQRBrQRFIDQAgCUEgaiECIB4hDwNAIA8pABAhOiACIA8pABg3AAggAiA6NwAAIA8pACAhOiACIA8pACg3ABggAiA6NwAQIA9BIGohDyACQSBqIgIgBEkNAAsLIAQgEWshAiAFIAc2AswCIAQgC2sgEUkEQCARIAQgF2tLDQ8gIiAiIAIgC2siCmoiByASak8EQCASRQ0CIAQgByAS/AoAAAwCC0EAIAprIgIEQCAEIAcgAvwKAAALIAogEmohEiAEIAprIQQgCyECCyARQRBPBEAgAikAACE6IAQgAikACDcACCAEIDo3AAAgEkERSA0BIAQgEmohByAEQRBqIQQDQCACKQAQITogBCACKQAYNwAIIAQgOjcAACACKQAgITogBCACKQAoNwAYIAQgOjcAECACQSBqIQIgBEEgaiIEIAdJDQALDAELAkAgEUEHTQRAIAQgAi0AADoAACAEIAItAAE6AAEgBCACLQACOgACIAQgAi0AAzoAAyAEIAIgEUECdCIHQeAaaigCAGoiAigAADYABCACIAdBgBtqKAIAayECDAELIAQgAikAADcAAAsgEkEJSQ0AIAQgEmohCiAEQQhqIgcgAkEIaiICa0EPTARAA0AgByACKQAANwAAIAJBCGohAiAHQQhqIgcgCkkNAAwCCwALIAIpAAAhOiAHIAIpAAg3AAggByA6NwAAIBJBGUgNACAEQRhqIQQDQCACKQAQITogBCACKQAYNwAIIAQgOjcAACACKQAgITogBCACKQAoNwAYIAQgOjcAECACQSBqIQIgBEEgaiIEIApJDQALCyAGQYh/SwRAIAYhAwwOCyAVIA02AgggFSAMNgIEIBUgEDYCACAZIRwMAwsgCkEgayEEAkACQCAKIBxLDQAgCSAVKAIEIhEgAmoiBmogBEsNACAGQSBqIBQgCWtNDQELIAUgFSgCCDYCkAEgBSAVKQIANwOIASAJIBQgBCAFQYgBaiAFQcwCaiAcIAsgFyAiECEhBgwCCyACIAlqIQQgFSgCCCEPIAcpAAAhOiAJIAcpAAg3AAggCSA6NwAAAkAgAkERSQ0AIAcpABAhOiAJIAcpABg3ABggCSA6NwAQIAJBEGtBEUgNACAHQRBqIQIgCUEgaiEHA0AgAikAECE6IAcgAikAGDcACCAHIDo3AAAgAikAICE6IAcgAikAKDcAGCAHIDo3ABAgAkEgaiECIAdBIGoiByAESQ0ACwsgBCAPayECIAUgCjYCzAIgBCALayAPSQRAIA8gBCAXa0sNDSAiICIgAiALayIKaiIHIBFqTwRAIBFFDQMgBCAHIBH8CgAADAMLQQAgCmsiAgRAIAQgByAC/AoAAAsgCiARaiERIAQgCmshBCALIQILIA9BEE8EQCACKQAAITogBCACKQAINwAIIAQgOjcAACARQRFIDQIgBCARaiEHIARBEGohBANAIAIpABAhOiAEIAIpABg3AAggBCA6NwAAIAIpACAhOiAEIAIpACg3ABggBCA6NwAQIAJBIGohAiAEQSBqIgQgB0kNAAsMAgsCQCAPQQdNBEAgBCACLQAAOgAAIAQgAi0AAToAASAEIAItAAI6AAIgBCACLQADOgADIAQgAiAPQQJ0IgdB4BpqKAIAaiICKAAANgAEIAIgB0GAG2ooAgBrIQIMAQsgBCACKQAANwAACyARQQlJDQEgBCARaiEKIARBCGoiByACQQhqIgJrQQ9MBEADQCAHIAIpAAA3AAAgAkEIaiECIAdBCGoiByAKSQ0ADAMLAAsgAikAACE6IAcgAikACDcACCAHIDo3AAAgEUEZSA0BIARBGGohBANAIAIpABAhOiAEIAIpABg3AAggBCA6NwAAIAIpACAhOiAEIAIpACg3ABggBCA6NwAQIAJBIGohAiAEQSBqIgQgCkkNAAsMAQsCQAJAIAUoAswCIhEgBUHgAWogJUEHcUEMbGoiDygCACICaiIHIBxLDQAgCSAPKAIEIgogAmoiBmogG0sNACAGQSBqIBQgCWtNDQELIAUgDygCCDYCoAEgBSAPKQIANwOYASAJIBQgBUGYAWogBUHMAmogHCALIBcgIhAgIQYMAQsgAiAJaiEEIA8oAgghFSARKQAAITogCSARKQAINwAIIAkgOjcAAAJAIAJBEUkNACARKQAQITogCSARKQAYNwAYIAkgOjcAECACQRBrQRFIDQAgEUEQaiECIAlBIGohEgNAIAIpABAhOiASIAIpABg3AAggEiA6NwAAIAIpACAhOiASIAIpACg3ABggEiA6NwAQIAJBIGohAiASQSBqIhIgBEkNAAsLIAQgFWshAiAFIAc2AswCIAQgC2sgFUkEQCAVIAQgF2tLDQwgIiAiIAIgC2siD2oiByAKak8EQCAKRQ0CIAQgByAK/AoAAAwCC0EAIA9rIgIEQCAEIAcgAvwKAAALIAogD2ohCiAEIA9rIQQgCyECCyAVQRBPBEAgAikAACE6IAQgAikACDcACCAEIDo3AAAgCkERSA0BIAQgCmohByAEQRBqIQQDQCACKQAQITogBCACKQAYNwAIIAQgOjcAACACKQAgITogBCACKQAoNwAYIAQgOjcAECACQSBqIQIgBEEgaiIEIAdJDQALDAELAkAgFUEHTQRAIAQgAi0AADoAACAEIAItAAE6AAEgBCACLQACOgACIAQgAi0AAzoAAyAEIAIgFUECdCIHQeAaaigCAGoiAigAADYABCACIAdBgBtqKAIAayECDAELIAQgAikAADcAAAsgCkEJSQ0AIAQgCmohDyAEQQhqIgcgAkEIaiICa0EPTARAA0AgByACKQAANwAAIAJBCGohAiAHQQhqIgcgD0kNAAwCCwALIAIpAAAhOiAHIAIpAAg3AAggByA6NwAAIApBGUgNACAEQRhqIQQDQCACKQAQITogBCACKQAYNwAIIAQgOjcAACACKQAgITogBCACKQAoNwAYIAQgOjcAECACQSBqIQIgBEEgaiIEIA9JDQALCyAGQYh/SwRAIAYhAwwLCyAFQeABaiAlQQdxQQxsaiICIA02AgggAiAMNgIEIAIgEDYCAAsgBiAJaiEJICVBAWohJSAQIC1qIAxqIS0MAQsLIAUoArABIAUoArQBRw0HIAUoAqwBQSBHDQcgDiAoayEQA0ACQCAOIBBMBEBBACECA0AgAkEDRg0CIDIgAkECdCIDaiADICZqKAIANgIAIAJBAWohAgwACwALIAVB4AFqIBBBB3FBDGxqIQoCfwJAIAgoAoTsAUECRgRAIAUoAswCIg8gCigCACIEaiIHIAgoAoDsASICSwRAIAIgD0cEQCACIA9rIgIgFCAJa0sNCyAJIA8gAhAfIAogBCACayIENgIAIAIgCWohCQsgBSAWNgLMAiAIQQA2AoTsAQJAAkACQCAEQYCABEoNACAJIAooAgQiDSAEaiIGaiAbSw0AIAZBIGogFCAJa00NAQsgBSAKKAIINgJQIAUgCikCADcDSCAJIBQgBUHIAGogBUHMAmogGSALIBcgIhAgIQYMAQsgBCAWaiEHIAQgCWohDCAKKAIIIQogFikAACE6IAkgFikACDcACCAJIDo3AAACQCAEQRFJDQAgHikAACE6IAkgHikACDcAGCAJIDo3ABAgBEEQa0ERSA0AIAlBIGohAiAeIQQDQCAEKQAQITogAiAEKQAYNwAIIAIgOjcAACAEKQAgITogAiAEKQAoNwAYIAIgOjcAECAEQSBqIQQgAkEgaiICIAxJDQALCyAMIAprIQIgBSAHNgLMAiAMIAtrIApJBEAgCiAMIBdrSw0PICIgIiACIAtrIgdqIgQgDWpPBEAgDUUNAiAMIAQgDfwKAAAMAgtBACAHayICBEAgDCAEIAL8CgAACyAHIA1qIQ0gDCAHayEMIAshAgsgCkEQTwRAIAIpAAAhOiAMIAIpAAg3AAggDCA6NwAAIA1BEUgNASAMIA1qIQcgDEEQaiEEA0AgAikAECE6IAQgAikAGDcACCAEIDo3AAAgAikAICE6IAQgAikAKDcAGCAEIDo3ABAgAkEgaiECIARBIGoiBCAHSQ0ACwwBCwJAIApBB00EQCAMIAItAAA6AAAgDCACLQABOgABIAwgAi0AAjoAAiAMIAItAAM6AAMgDCACIApBAnQiBEHgGmooAgBqIgIoAAA2AAQgAiAEQYAbaigCAGshAgwBCyAMIAIpAAA3AAALIA1BCUkNACAMIA1qIQcgDEEIaiIEIAJBCGoiAmtBD0wEQANAIAQgAikAADcAACACQQhqIQIgBEEIaiIEIAdJDQAMAgsACyACKQAAITogBCACKQAINwAIIAQgOjcAACANQRlIDQAgDEEYaiEEA0AgAikAECE6IAQgAikAGDcACCAEIDo3AAAgAikAICE6IAQgAikAKDcAGCAEIDo3ABAgAkEgaiECIARBIGoiBCAHSQ0ACwsgBkGJf08EQCAGIQMMDgsgGSEcIAYgCWoMAwsgB0EgayECAkACQCAHIBxLDQAgCSAKKAIEIhIgBGoiDGogAksNACAMQSBqIBQgCWtNDQELIAUgCigCCDYCYCAFIAopAgA3A1ggCSAUIAIgBUHYAGogBUHMAmogHCALIBcgIhAhIQwMAgsgBCAJaiEGIAooAgghCiAPKQAAITogCSAPKQAINwAIIAkgOjcAAAJAIARBEUkNACAPKQAQITogCSAPKQAYNwAYIAkgOjcAECAEQRBrQRFIDQAgD0EQaiECIAlBIGohBANAIAIpABAhOiAEIAIpABg3AAggBCA6NwAAIAIpACAhOiAEIAIpACg3ABggBCA6NwAQIAJBIGohAiAEQSBqIgQgBkkNAAsLIAYgCmshAiAFIAc2AswCIAYgC2sgCkkEQCAKIAYgF2tLDQ0gIiAiIAIgC2siB2oiBCASak8EQCASRQ0DIAYgBCAS/AoAAAwDC0EAIAdrIgIEQCAGIAQgAvwKAAALIAcgEmohEiAGIAdrIQYgCyECCyAKQRBPBEAgAikAACE6IAYgAikACDcACCAGIDo3AAAgEkERSA0CIAYgEmohByAGQRBqIQQDQCACKQAQITogBCACKQAYNwAIIAQgOjcAACACKQAgITogBCACKQAoNwAYIAQgOjcAECACQSBqIQIgBEEgaiIEIAdJDQALDAILAkAgCkEHTQRAIAYgAi0AADoAACAGIAItAAE6AAEgBiACLQACOgACIAYgAi0AAzoAAyAGIAIgCkECdCIEQeAaaigCAGoiAigAADYABCACIARBgBtqKAIAayECDAELIAYgAikAADcAAAsgEkEJSQ0BIAYgEmohByAGQQhqIgQgAkEIaiICa0EPTARAA0AgBCACKQAANwAAIAJBCGohAiAEQQhqIgQgB0kNAAwDCwALIAIpAAAhOiAEIAIpAAg3AAggBCA6NwAAIBJBGUgNASAGQRhqIQQDQCACKQAQITogBCACKQAYNwAIIAQgOjcAACACKQAgITogBCACKQAoNwAYIAQgOjcAECACQSBqIQIgBEEgaiIEIAdJDQALDAELAkACQCAFKALMAiIGIAooAgAiAmoiByAcSw0AIAkgCigCBCINIAJqIgxqIBtLDQAgDEEgaiAUIAlrTQ0BCyAFIAooAgg2AnAgBSAKKQIANwNoIAkgFCAFQegAaiAFQcwCaiAcIAsgFyAiECAhDAwBCyACIAlqIQQgCigCCCEKIAYpAAAhOiAJIAYpAAg3AAggCSA6NwAAAkAgAkERSQ0AIAYpABAhOiAJIAYpABg3ABggCSA6NwAQIAJBEGtBEUgNACAGQRBqIQIgCUEgaiEGA0AgAikAECE6IAYgAikAGDcACCAGIDo3AAAgAikAICE6IAYgAikAKDcAGCAGIDo3ABAgAkEgaiECIAZBIGoiBiAESQ0ACwsgBCAKayECIAUgBzYCzAIgBCALayAKSQRAIAogBCAXa0sNDCAiICIgAiALayIHaiIGIA1qTwRAIA1FDQIgBCAGIA38CgAADAILQQAgB2siAgRAIAQgBiAC/AoAAAsgByANaiENIAQgB2shBCALIQILIApBEE8EQCACKQAAITogBCACKQAINwAIIAQgOjcAACANQRFIDQEgBCANaiEGIARBEGohBANAIAIpABAhOiAEIAIpABg3AAggBCA6NwAAIAIpACAhOiAEIAIpACg3ABggBCA6NwAQIAJBIGohAiAEQSBqIgQgBkkNAAsMAQsCQCAKQQdNBEAgBCACLQAAOgAAIAQgAi0AAToAASAEIAItAAI6AAIgBCACLQADOgADIAQgAiAKQQJ0IgZB4BpqKAIAaiICKAAANgAEIAIgBkGAG2ooAgBrIQIMAQsgBCACKQAANwAACyANQQlJDQAgBCANaiEGIARBCGoiByACQQhqIgJrQQ9MBEADQCAHIAIpAAA3AAAgAkEIaiECIAdBCGoiByAGSQ0ADAILAAsgAikAACE6IAcgAikACDcACCAHIDo3AAAgDUEZSA0AIARBGGohBANAIAIpABAhOiAEIAIpABg3AAggBCA6NwAAIAIpACAhOiAEIAIpACg3ABggBCA6NwAQIAJBIGohAiAEQSBqIgQgBkkNAAsLIAxBiH9LBEAgDCEDDAsLIAkgDGoLIQkgEEEBaiEQDAELCyAIKAKE7AEhAiAFKALMAiEDDAMFICQgMEEDdGoiBy0AAiEuICsgKkEDdGoiCi0AAiEvIBggIUEDdGoiDC0AAyEWIAotAAMhGyAHLQADIR8gDC8BACEnIAovAQAhHiAHLwEAIRkgDCgCBCENIAcoAgQhByAKKAIEIQoCQAJAIAwtAAIiEkECTwRAIAkgBHQhDCAVIBJBGUlyRQRAIAxBBSASa3ZBBXQgDWohDQJAIAQgEmpBBWsiBEEgSwRAQbAaIQIMAQsgAiApTwRAIAUgBEEHcSIMNgKsASACIARBA3ZrIgIoAAAhCSAMIQQMAQsgAiAjRg0AIAUgBCACICNrIARBA3YiBCACIARrICNJGyIMQQN0ayIENgKsASACIAxrIgIoAAAhCQsgBSAEQQVqIg82AqwBIA0gCSAEdEEbdmohEgwCCyAFIAQgEmoiDzYCrAEgDEEAIBJrdiANaiESIA9BIEsEQEGwGiECDAILIAIgKU8EQCAFIA9BB3EiBDYCrAEgAiAPQQN2ayICKAAAIQkgBCEPDAILIAIgI0YNASAFIA8gAiAjayAPQQN2IgQgAiAEayAjSRsiBEEDdGsiDzYCrAEgAiAEayICKAAAIQkMAQsgB0UhDCASRQRAICYgDEECdGooAgAhEiAmIAdBAEdBAnRqKAIAIREgBCEPDAILIAUgBEEBaiIPNgKsASANIAkgBHRBH3ZqIAxqIgxBA0YEQCARQQFrIgRBfyAEGyESDAELICYgDEECdGooAgAiBEF/IAQbIRIgDEEBRg0BCyAFIAY2AtwBCyAuIC9qIQQgBSASNgLUASAFIBE2AtgBAkAgL0UEQCAPIQwMAQsgBSAPIC9qIgw2AqwBIAkgD3RBACAva3YgCmohCgsCQCAEQRRJDQAgDEEgSwRAQbAaIQIMAQsgAiApTwRAIAUgDEEHcSIENgKsASACIAxBA3ZrIgIoAAAhCSAEIQwMAQsgAiAjRg0AIAUgDCACICNrIAxBA3YiBCACIARrICNJGyIEQQN0ayIMNgKsASACIARrIgIoAAAhCQsCQCAuRQRAIAwhBAwBCyAFIAwgLmoiBDYCrAEgCSAMdEEAIC5rdiAHaiEHCwJAIARBIEsEQEGwGiECDAELIAIgKU8EQCAFIARBB3EiBjYCrAEgAiAEQQN2ayICKAAAIQkgBiEEDAELIAIgI0YNACAFIAQgAiAjayAEQQN2IgQgAiAEayAjSRsiBkEDdGsiBDYCrAEgAiAGayICKAAAIQkLAkAgECAaRg0AIB9BAnRBsBlqKAIAIAlBACAEIB9qIgRrdnEhDyAbQQJ0QbAZaigCACAJQQAgBCAbaiIEa3ZxIQYCQAJ/AkACQCAEQSBLBEBBsBohAgwBCyACIClPBEAgBSAEQQdxIgw2AqwBIAIgBEEDdmsMAwsgAiAjRw0BCyAEIQwMAgsgBSAEIAIgI2sgBEEDdiIEIAIgBGsgI0kbIgRBA3RrIgw2AqwBIAIgBGsLIgIoAAAhCQsgDyAZaiEwIAYgHmohKiAFIAwgFmoiBjYCrAEgFkECdEGwGWooAgAgCUEAIAZrdnEgJ2ohIQJ/AkACQCAGQSBLBEBBsBohAgwBCyACIClPBEAgBSAGQQdxIgQ2AqwBIAIgBkEDdmsMAwsgAiAjRw0BCyAGIQQMAgsgBSAGIAIgI2sgBkEDdiIEIAIgBGsgI0kbIgZBA3RrIgQ2AqwBIAIgBmsLIgIoAAAhCQsgBUHgAWogEEEMbGoiBiASNgIIIAYgCjYCBCAGIAc2AgAgEEEBaiEQIAcgLWogCmohLSARIQYMAQsACwALAn8CQAJAAkAgAg4DAQIAAgsgBSAIKAL46gEiAzYCzAJBACECIBMgFEEAIBRBAEobaiEaIAgoAoDsASERAn8CQCAORQRAIBMhBwwBCyAIKAK46QEhFiAIKAK06QEhHyAIKAKw6QEhCyAIQQE2AozqASAIQazQAWohKyAFQYwCaiEbA0AgAkEDRwRAIBsgAkECdCIDaiADICtqKAIANgIAIAJBAWohAgwBCwsgBUHgAWoiAiAEIAcQCEGIf0sNByAFQfQBaiACIAgoAgAQHiAFQfwBaiACIAgoAggQHiAFQYQCaiACIAgoAgQQHiAzRSEeIBMhBwJAA0AgDkUNASAFKAL4ASAFKAL0AUEDdGoiBC0AAiEkIAUoAogCIAUoAoQCQQN0aiIDLQACIRUgBSgCgAIgBSgC/AFBA3RqIgItAAMhJyADLQADIRIgBC0AAyEcIAIvAQAhGSADLwEAIQ8gBC8BACEMIAIoAgQhBiAEKAIEIQQgAygCBCEJAkAgAi0AAiINQQJPBEACQCAeIA1BGUlyRQRAIAUoAuABIiEgBSgC5AEiAnRBBSANa3ZBBXQgBmohBgJAIAIgDWpBBWsiAkEhTwRAIAVBsBo2AugBDAELIAUoAugBIgogBSgC8AFPBEAgBSACQQdxIgM2AuQBIAUgCiACQQN2ayICNgLoASAFIAIoAAAiITYC4AEgAyECDAELIAogBSgC7AEiA0YNACAFIAIgCiADayACQQN2IgIgCiACayADSRsiA0EDdGsiAjYC5AEgBSAKIANrIgM2AugBIAUgAygAACIhNgLgAQsgBSACQQVqIgo2AuQBIAYgISACdEEbdmohDQwBCyAFIAUoAuQBIgIgDWoiCjYC5AEgBSgC4AEgAnRBACANa3YgBmohDSAKQSFPBEAgBUGwGjYC6AEMAQsgBSgC6AEiBiAFKALwAU8EQCAFIApBB3EiAjYC5AEgBSAGIApBA3ZrIgM2AugBIAUgAygAADYC4AEgAiEKDAELIAYgBSgC7AEiA0YNACAFIAogBiADayAKQQN2IgIgBiACayADSRsiAkEDdGsiCjYC5AEgBSAGIAJrIgI2AugBIAUgAigAADYC4AELIAUpAowCITogBSANNgKMAiAFIDo3ApACDAELIARFIQMgDUUEQCAbIARBAEdBAnRqKAIAIQIgBSAbIANBAnRqKAIAIg02AowCIAUgAjYCkAIgBSgC5AEhCgwBCyAFIAUoAuQBIgJBAWoiCjYC5AECQAJAIAMgBmogBSgC4AEgAnRBH3ZqIgNBA0YEQCAFKAKMAkEBayICQX8gAhshDQwBCyAbIANBAnRqKAIAIgJBfyACGyENIANBAUYNAQsgBSAFKAKQAjYClAILIAUgBSgCjAI2ApACIAUgDTYCjAILIBUgJGohAwJAIBVFBEAgCiECDAELIAUgCiAVaiICNgLkASAFKALgASAKdEEAIBVrdiAJaiEJCwJAIANBFEkNACACQSFPBEAgBUGwGjYC6AEMAQsgBSgC6AEiBiAFKALwAU8EQCAFIAJBB3EiAzYC5AEgBSAGIAJBA3ZrIgI2AugBIAUgAigAADYC4AEgAyECDAELIAYgBSgC7AEiA0YNACAFIAIgBiADayACQQN2IgIgBiACayADSRsiA0EDdGsiAjYC5AEgBSAGIANrIgM2AugBIAUgAygAADYC4AELAkAgJEUEQCACIQMMAQsgBSACICRqIgM2AuQBIAUoAuABIAJ0QQAgJGt2IARqIQQLAkAgA0EhTwRAQbAaIQIgBUGwGjYC6AEMAQsgBSgC6AEiAiAFKALwAU8EQCAFIANBB3EiBjYC5AEgBSACIANBA3ZrIgI2AugBIAUgAigAADYC4AEgBiEDDAELIAIgBSgC7AEiCkYNACAFIAIgAiAKayADQQN2IgYgAiAGayAKSRsiBmsiAjYC6AEgBSADIAZBA3RrIgM2AuQBIAUgAigAADYC4AELAkAgDkEBRg0AIAUgHEECdEGwGWooAgAgBSgC4AEiBkEAIAMgHGoiA2t2cSAMajYC9AEgBSASQQJ0QbAZaigCACAGQQAgAyASaiIDa3ZxIA9qNgKEAgJAIANBIU8EQEGwGiECIAVBsBo2AugBDAELIAUoAvABIAJNBEAgBSADQQdxIgo2AuQBIAUgAiADQQN2ayICNgLoASAFIAIoAAAiBjYC4AEgCiEDDAELIAIgBSgC7AEiCkYNACAFIAIgAiAKayADQQN2IgYgAiAGayAKSRsiBmsiAjYC6AEgBSADIAZBA3RrIgM2AuQBIAUgAigAACIGNgLgAQsgBSADICdqIgM2AuQBIAUgJ0ECdEGwGWooAgAgBkEAIANrdnEgGWo2AvwBIANBIU8EQCAFQbAaNgLoAQwBCyAFKALwASACTQRAIAUgA0EHcTYC5AEgBSACIANBA3ZrIgI2AugBIAUgAigAADYC4AEMAQsgAiAFKALsASIGRg0AIAUgAyACIAZrIANBA3YiAyACIANrIAZJGyIDQQN0azYC5AEgBSACIANrIgI2AugBIAUgAigAADYC4AELIAUoAswCIgwgBGoiCiAIKAKA7AEiAk0EQCAKQSBrIQIgBSAENgKoASAFIAk2AqwBIAUgDTYCsAECQAJAAkAgCiARSw0AIAcgBCAJaiIDaiACSw0AIANBIGogGiAHa00NAQsgBUFAayAFKAKwATYCACAFIAUpA6gBNwM4IAcgGiACIAVBOGogBUHMAmogESALIB8gFhAhIQMMAQsgBCAHaiEGIAwpAAAhOiAHIAwpAAg3AAggByA6NwAAAkAgBEERSQ0AIAwpABAhOiAHIAwpABg3ABggByA6NwAQIARBEGtBEUgNACAMQRBqIQIgB0EgaiEEA0AgAikAECE6IAQgAikAGDcACCAEIDo3AAAgAikAICE6IAQgAikAKDcAGCAEIDo3ABAgAkEgaiECIARBIGoiBCAGSQ0ACwsgBiANayECIAUgCjYCzAIgBiALayANSQRAIA0gBiAfa0sNDCAWIBYgAiALayIKaiIEIAlqTwRAIAlFDQIgBiAEIAn8CgAADAILQQAgCmsiAgRAIAYgBCAC/AoAAAsgBSAJIApqIgk2AqwBIAYgCmshBiALIQILIA1BEE8EQCACKQAAITogBiACKQAINwAIIAYgOjcAACAJQRFIDQEgBiAJaiEKIAZBEGohBANAIAIpABAhOiAEIAIpABg3AAggBCA6NwAAIAIpACAhOiAEIAIpACg3ABggBCA6NwAQIAJBIGohAiAEQSBqIgQgCkkNAAsMAQsCQCANQQdNBEAgBiACLQAAOgAAIAYgAi0AAToAASAGIAItAAI6AAIgBiACLQADOgADIAYgAiANQQJ0IgRB4BpqKAIAaiICKAAANgAEIAIgBEGAG2ooAgBrIQIMAQsgBiACKQAANwAACyAJQQlJDQAgBiAJaiEKIAZBCGoiBCACQQhqIgJrQQ9MBEADQCAEIAIpAAA3AAAgAkEIaiECIARBCGoiBCAKSQ0ADAILAAsgAikAACE6IAQgAikACDcACCAEIDo3AAAgCUEZSA0AIAZBGGohBANAIAIpABAhOiAEIAIpABg3AAggBCA6NwAAIAIpACAhOiAEIAIpACg3ABggBCA6NwAQIAJBIGohAiAEQSBqIgQgCkkNAAsLIANBiH9LDQwgDkEBayEOIAMgB2ohBwwBCwsgDkEATA0IIAIgDEcEQEG6fyEDIAIgDGsiAiAaIAdrSw0LIAcgDCACEB8gAiAHaiEHIAQgAmshBAsgBSAIQYjsAWoiAjYCzAIgCEEANgKE7AEgCEGI7AVqIREgBSAENgKoASAFIAk2AqwBIAUgDTYCsAECQAJAAkAgBEGAgARKDQAgByAEIAlqIgNqIBpBIGtLDQAgA0EgaiAaIAdrTQ0BCyAFIAUoArABNgIwIAUgBSkDqAE3AyggByAaIAVBKGogBUHMAmogESALIB8gFhAgIQMMAQsgAiAEaiEKIAQgB2ohBiACKQAAITogByACKQAINwAIIAcgOjcAAAJAIARBEUkNACAIKQCY7AEhOiAHIAhBoOwBaikAADcAGCAHIDo3ABAgBEEQa0ERSA0AIAhBmOwBaiECIAdBIGohBANAIAIpABAhOiAEIAIpABg3AAggBCA6NwAAIAIpACAhOiAEIAIpACg3ABggBCA6NwAQIAJBIGohAiAEQSBqIgQgBkkNAAsLIAYgDWshAiAFIAo2AswCIAYgC2sgDUkEQCANIAYgH2tLDQogFiAWIAIgC2siCmoiBCAJak8EQCAJRQ0CIAYgBCAJ/AoAAAwCC0EAIAprIgIEQCAGIAQgAvwKAAALIAUgCSAKaiIJNgKsASAGIAprIQYgCyECCyANQRBPBEAgAikAACE6IAYgAikACDcACCAGIDo3AAAgCUERSA0BIAYgCWohCiAGQRBqIQQDQCACKQAQITogBCACKQAYNwAIIAQgOjcAACACKQAgITogBCACKQAoNwAYIAQgOjcAECACQSBqIQIgBEEgaiIEIApJDQALDAELAkAgDUEHTQRAIAYgAi0AADoAACAGIAItAAE6AAEgBiACLQACOgACIAYgAi0AAzoAAyAGIAIgDUECdCIEQeAaaigCAGoiAigAADYABCACIARBgBtqKAIAayECDAELIAYgAikAADcAAAsgCUEJSQ0AIAYgCWohCiAGQQhqIgQgAkEIaiICa0EPTARAA0AgBCACKQAANwAAIAJBCGohAiAEQQhqIgQgCkkNAAwCCwALIAIpAAAhOiAEIAIpAAg3AAggBCA6NwAAIAlBGUgNACAGQRhqIQQDQCACKQAQITogBCACKQAYNwAIIAQgOjcAACACKQAgITogBCACKQAoNwAYIAQgOjcAECACQSBqIQIgBEEgaiIEIApJDQALCyADQYh/Sw0KIAMgB2ohByAOQQFrIgpFDQAgGkEgayESIDNFIRwDQCAFKAL4ASAFKAL0AUEDdGoiBC0AAiEJIAUoAogCIAUoAoQCQQN0aiIDLQACIQwgBSgCgAIgBSgC/AFBA3RqIgItAAMhJCADLQADIRUgBC0AAyEnIAIvAQAhHiADLwEAIRkgBC8BACEPIAIoAgQhBiAEKAIEIQQgAygCBCEOAkAgAi0AAiIYQQJPBEACQCAcIBhBGUlyRQRAIAUoAuABIiogBSgC5AEiAnRBBSAYa3ZBBXQgBmohBgJAIAIgGGpBBWsiAkEhTwRAIAVBsBo2AugBDAELIAUoAugBIg0gBSgC8AFPBEAgBSACQQdxIgM2AuQBIAUgDSACQQN2ayICNgLoASAFIAIoAAAiKjYC4AEgAyECDAELIA0gBSgC7AEiA0YNACAFIAIgDSADayACQQN2IgIgDSACayADSRsiA0EDdGsiAjYC5AEgBSANIANrIgM2AugBIAUgAygAACIqNgLgAQsgBSACQQVqIg02AuQBIAYgKiACdEEbdmohBgwBCyAFIAUoAuQBIgIgGGoiDTYC5AEgBSgC4AEgAnRBACAYa3YgBmohBiANQSFPBEAgBUGwGjYC6AEMAQsgBSgC6AEiGCAFKALwAU8EQCAFIA1BB3EiAjYC5AEgBSAYIA1BA3ZrIgM2AugBIAUgAygAADYC4AEgAiENDAELIBggBSgC7AEiA0YNACAFIA0gGCADayANQQN2IgIgGCACayADSRsiAkEDdGsiDTYC5AEgBSAYIAJrIgI2AugBIAUgAigAADYC4AELIAUpAowCITogBSAGNgKMAiAFIDo3ApACDAELIARFIQMgGEUEQCAbIARBAEdBAnRqKAIAIQIgBSAbIANBAnRqKAIAIgY2AowCIAUgAjYCkAIgBSgC5AEhDQwBCyAFIAUoAuQBIgJBAWoiDTYC5AECQAJAIAMgBmogBSgC4AEgAnRBH3ZqIgNBA0YEQCAFKAKMAkEBayICQX8gAhshBgwBCyAbIANBAnRqKAIAIgJBfyACGyEGIANBAUYNAQsgBSAFKAKQAjYClAILIAUgBSgCjAI2ApACIAUgBjYCjAILIAkgDGohAwJAIAxFBEAgDSECDAELIAUgDCANaiICNgLkASAFKALgASANdEEAIAxrdiAOaiEOCwJAIANBFEkNACACQSFPBEAgBUGwGjYC6AEMAQsgBSgC6AEiDCAFKALwAU8EQCAFIAJBB3EiAzYC5AEgBSAMIAJBA3ZrIgI2AugBIAUgAigAADYC4AEgAyECDAELIAwgBSgC7AEiA0YNACAFIAIgDCADayACQQN2IgIgDCACayADSRsiA0EDdGsiAjYC5AEgBSAMIANrIgM2AugBIAUgAygAADYC4AELAkAgCUUEQCACIQMMAQsgBSACIAlqIgM2AuQBIAUoAuABIAJ0QQAgCWt2IARqIQQLAkAgA0EhTwRAQbAaIQIgBUGwGjYC6AEMAQsgBSgC6AEiAiAFKALwAU8EQCAFIANBB3EiDDYC5AEgBSACIANBA3ZrIgI2AugBIAUgAigAADYC4AEgDCEDDAELIAIgBSgC7AEiCUYNACAFIAIgAiAJayADQQN2IgwgAiAMayAJSRsiDGsiAjYC6AEgBSADIAxBA3RrIgM2AuQBIAUgAigAADYC4AELAkAgCkEBRg0AIAUgJ0ECdEGwGWooAgAgBSgC4AEiCUEAIAMgJ2oiA2t2cSAPajYC9AEgBSAVQQJ0QbAZaigCACAJQQAgAyAVaiIDa3ZxIBlqNgKEAgJAIANBIU8EQEGwGiECIAVBsBo2AugBDAELIAUoAvABIAJNBEAgBSADQQdxIgw2AuQBIAUgAiADQQN2ayICNgLoASAFIAIoAAAiCTYC4AEgDCEDDAELIAIgBSgC7AEiD0YNACAFIAIgAiAPayADQQN2IgwgAiAMayAPSRsiDGsiAjYC6AEgBSADIAxBA3RrIgM2AuQBIAUgAigAACIJNgLgAQsgBSADICRqIgM2AuQBIAUgJEECdEGwGWooAgAgCUEAIANrdnEgHmo2AvwBIANBIU8EQCAFQbAaNgLoAQwBCyAFKALwASACTQRAIAUgA0EHcTYC5AEgBSACIANBA3ZrIgI2AugBIAUgAigAADYC4AEMAQsgAiAFKALsASIMRg0AIAUgAyACIAxrIANBA3YiAyACIANrIAxJGyIDQQN0azYC5AEgBSACIANrIgI2AugBIAUgAigAADYC4AELIAUgBDYCqAEgBSAONgKsASAFIAY2ArABAkACQAJAIAUoAswCIgIgBGoiDCARSw0AIAcgBCAOaiIDaiASSw0AIANBIGogGiAHa00NAQsgBSAFKAKwATYCICAFIAUpA6gBNwMYIAcgGiAFQRhqIAVBzAJqIBEgCyAfIBYQICEDDAELIAQgB2ohCSACKQAAITogByACKQAINwAIIAcgOjcAAAJAIARBEUkNACACKQAQITogByACKQAYNwAYIAcgOjcAECAEQRBrQRFIDQAgAkEQaiECIAdBIGohBANAIAIpABAhOiAEIAIpABg3AAggBCA6NwAAIAIpACAhOiAEIAIpACg3ABggBCA6NwAQIAJBIGohAiAEQSBqIgQgCUkNAAsLIAkgBmshAiAFIAw2AswCIAkgC2sgBkkEQCAGIAkgH2tLDQsgFiAWIAIgC2siDGoiBCAOak8EQCAORQ0CIAkgBCAO/AoAAAwCC0EAIAxrIgIEQCAJIAQgAvwKAAALIAUgDCAOaiIONgKsASAJIAxrIQkgCyECCyAGQRBPBEAgAikAACE6IAkgAikACDcACCAJIDo3AAAgDkERSA0BIAkgDmohBiAJQRBqIQQDQCACKQAQITogBCACKQAYNwAIIAQgOjcAACACKQAgITogBCACKQAoNwAYIAQgOjcAECACQSBqIQIgBEEgaiIEIAZJDQALDAELAkAgBkEHTQRAIAkgAi0AADoAACAJIAItAAE6AAEgCSACLQACOgACIAkgAi0AAzoAAyAJIAIgBkECdCIEQeAaaigCAGoiAigAADYABCACIARBgBtqKAIAayECDAELIAkgAikAADcAAAsgDkEJSQ0AIAkgDmohBiAJQQhqIgQgAkEIaiICa0EPTARAA0AgBCACKQAANwAAIAJBCGohAiAEQQhqIgQgBkkNAAwCCwALIAIpAAAhOiAEIAIpAAg3AAggBCA6NwAAIA5BGUgNACAJQRhqIQQDQCACKQAQITogBCACKQAYNwAIIAQgOjcAACACKQAgITogBCACKQAoNwAYIAQgOjcAECACQSBqIQIgBEEgaiIEIAZJDQALCyADQYh/Sw0LIAMgB2ohByAKQQFrIgoNAAsLIAUoAugBIAUoAuwBRw0HQWwhAyAFKALkAUEgRw0JQQAhAgNAIAJBA0cEQCArIAJBAnQiA2ogAyAbaigCADYCACACQQFqIQIMAQsLIAUoAswCIgMgCCgChOwBQQJHDQEaCyARIANrIgIgGiAHa0sNBUEAIQQgBwRAIAIEQCAHIAMgAvwKAAALIAIgB2ohBAsgCEEANgKE7AEgCEGI7AVqIREgBCEHIAhBiOwBagshAiARIAJrIgMgGiAHa0sNBCAHBH8gAwRAIAcgAiAD/AoAAAsgAyAHagVBAAsgE2shAwwHCyATIBRBACAUQQBKG2oMAQsgCCgC/OsBCyEWIAUgCCgC+OoBIgI2AswCIAIgCCgCiOsBaiEfAkAgDkUEQCATIQkMAQsgCCgCuOkBIRggCCgCtOkBISsgCCgCsOkBIQwgCEEBNgKM6gEgCEGs0AFqISQgBUGMAmohGkEAIQIDQCACQQNHBEAgGiACQQJ0IgNqIAMgJGooAgA2AgAgAkEBaiECDAELC0FsIQMgBUHgAWoiAiAEIAcQCEGIf0sNBSAFQfQBaiACIAgoAgAQHiAFQfwBaiACIAgoAggQHiAFQYQCaiACIAgoAgQQHiAWQSBrIRwgM0UhHiATIQkDQCAOBEAgBSgC+AEgBSgC9AFBA3RqIgItAAIhGyAFKAKIAiAFKAKEAkEDdGoiBC0AAiENIAUoAoACIAUoAvwBQQN0aiIGLQADIRUgBC0AAyEnIAItAAMhEiAGLwEAIRkgBC8BACERIAIvAQAhDyAGKAIEIQcgAigCBCECIAQoAgQhBAJAIAYtAAIiKEECTwRAAkAgHiAoQRlJckUEQCAFKALgASIhIAUoAuQBIgZ0QQUgKGt2QQV0IAdqIQcCQCAGIChqQQVrIgZBIU8EQCAFQbAaNgLoAQwBCyAFKALoASIKIAUoAvABTwRAIAUgBkEHcSILNgLkASAFIAogBkEDdmsiBjYC6AEgBSAGKAAAIiE2AuABIAshBgwBCyAKIAUoAuwBIgtGDQAgBSAGIAogC2sgBkEDdiIGIAogBmsgC0kbIgtBA3RrIgY2AuQBIAUgCiALayILNgLoASAFIAsoAAAiITYC4AELIAUgBkEFaiIKNgLkASAHICEgBnRBG3ZqIRAMAQsgBSAFKALkASIGIChqIgo2AuQBIAUoAuABIAZ0QQAgKGt2IAdqIRAgCkEhTwRAIAVBsBo2AugBDAELIAUoAugBIgcgBSgC8AFPBEAgBSAKQQdxIgY2AuQBIAUgByAKQQN2ayILNgLoASAFIAsoAAA2AuABIAYhCgwBCyAHIAUoAuwBIgtGDQAgBSAKIAcgC2sgCkEDdiIGIAcgBmsgC0kbIgZBA3RrIgo2AuQBIAUgByAGayIGNgLoASAFIAYoAAA2AuABCyAFKQKMAiE6IAUgEDYCjAIgBSA6NwKQAgwBCyACRSELIChFBEAgGiACQQBHQQJ0aigCACEGIAUgGiALQQJ0aigCACIQNgKMAiAFIAY2ApACIAUoAuQBIQoMAQsgBSAFKALkASIGQQFqIgo2AuQBAkACQCAHIAtqIAUoAuABIAZ0QR92aiILQQNGBEAgBSgCjAJBAWsiBkF/IAYbIRAMAQsgGiALQQJ0aigCACIGQX8gBhshECALQQFGDQELIAUgBSgCkAI2ApQCCyAFIAUoAowCNgKQAiAFIBA2AowCCyANIBtqIQsCQCANRQRAIAohBgwBCyAFIAogDWoiBjYC5AEgBSgC4AEgCnRBACANa3YgBGohBAsCQCALQRRJDQAgBkEhTwRAIAVBsBo2AugBDAELIAUoAugBIgcgBSgC8AFPBEAgBSAGQQdxIgs2AuQBIAUgByAGQQN2ayIGNgLoASAFIAYoAAA2AuABIAshBgwBCyAHIAUoAuwBIgtGDQAgBSAGIAcgC2sgBkEDdiIGIAcgBmsgC0kbIgtBA3RrIgY2AuQBIAUgByALayILNgLoASAFIAsoAAA2AuABCwJAIBtFBEAgBiEHDAELIAUgBiAbaiIHNgLkASAFKALgASAGdEEAIBtrdiACaiECCwJAIAdBIU8EQEGwGiEGIAVBsBo2AugBDAELIAUoAugBIgYgBSgC8AFPBEAgBSAHQQdxIgs2AuQBIAUgBiAHQQN2ayIGNgLoASAFIAYoAAA2AuABIAshBwwBCyAGIAUoAuwBIgpGDQAgBSAGIAYgCmsgB0EDdiILIAYgC2sgCkkbIgtrIgY2AugBIAUgByALQQN0ayIHNgLkASAFIAYoAAA2AuABCwJAIA5BAUYNACAFIBJBAnRBsBlqKAIAIAUoAuABIg1BACAHIBJqIgtrdnEgD2o2AvQBIAUgJ0ECdEGwGWooAgAgDUEAIAsgJ2oiB2t2cSARajYChAICQCAHQSFPBEBBsBohBiAFQbAaNgLoAQwBCyAFKALwASAGTQRAIAUgB0EHcSILNgLkASAFIAYgB0EDdmsiBjYC6AEgBSAGKAAAIg02AuABIAshBwwBCyAGIAUoAuwBIgpGDQAgBSAGIAYgCmsgB0EDdiILIAYgC2sgCkkbIgtrIgY2AugBIAUgByALQQN0ayIHNgLkASAFIAYoAAAiDTYC4AELIAUgByAVaiILNgLkASAFIBVBAnRBsBlqKAIAIA1BACALa3ZxIBlqNgL8ASALQSFPBEAgBUGwGjYC6AEMAQsgBSgC8AEgBk0EQCAFIAtBB3E2AuQBIAUgBiALQQN2ayIGNgLoASAFIAYoAAA2AuABDAELIAYgBSgC7AEiB0YNACAFIAsgBiAHayALQQN2IgsgBiALayAHSRsiC0EDdGs2AuQBIAUgBiALayIGNgLoASAFIAYoAAA2AuABCyAFIAI2AqgBIAUgBDYCrAEgBSAQNgKwAQJAAkACQCAFKALMAiIGIAJqIgsgH0sNACAJIAIgBGoiDWogHEsNACANQSBqIBYgCWtNDQELIAUgBSgCsAE2AhAgBSAFKQOoATcDCCAJIBYgBUEIaiAFQcwCaiAfIAwgKyAYECAhDQwBCyACIAlqIQcgBikAACE6IAkgBikACDcACCAJIDo3AAACQCACQRFJDQAgBikAECE6IAkgBikAGDcAGCAJIDo3ABAgAkEQa0ERSA0AIAZBEGohBiAJQSBqIQIDQCAGKQAQITogAiAGKQAYNwAIIAIgOjcAACAGKQAgITogAiAGKQAoNwAYIAIgOjcAECAGQSBqIQYgAkEgaiICIAdJDQALCyAHIBBrIQYgBSALNgLMAiAHIAxrIBBJBEAgECAHICtrSw0JIBggGCAGIAxrIgtqIgYgBGpPBEAgBEUNAiAHIAYgBPwKAAAMAgtBACALayICBEAgByAGIAL8CgAACyAFIAQgC2oiBDYCrAEgByALayEHIAwhBgsgEEEQTwRAIAYpAAAhOiAHIAYpAAg3AAggByA6NwAAIARBEUgNASAEIAdqIQQgB0EQaiECA0AgBikAECE6IAIgBikAGDcACCACIDo3AAAgBikAICE6IAIgBikAKDcAGCACIDo3ABAgBkEgaiEGIAJBIGoiAiAESQ0ACwwBCwJAIBBBB00EQCAHIAYtAAA6AAAgByAGLQABOgABIAcgBi0AAjoAAiAHIAYtAAM6AAMgByAGIBBBAnQiC0HgGmooAgBqIgIoAAA2AAQgAiALQYAbaigCAGshBgwBCyAHIAYpAAA3AAALIARBCUkNACAEIAdqIQsgB0EIaiICIAZBCGoiBmtBD0wEQANAIAIgBikAADcAACAGQQhqIQYgAkEIaiICIAtJDQAMAgsACyAGKQAAITogAiAGKQAINwAIIAIgOjcAACAEQRlIDQAgB0EYaiECA0AgBikAECE6IAIgBikAGDcACCACIDo3AAAgBikAICE6IAIgBikAKDcAGCACIDo3ABAgBkEgaiEGIAJBIGoiAiALSQ0ACwsgDUGIf0sEQCANIQMMCAUgDkEBayEOIAkgDWohCQwCCwALCyAFKALoASAFKALsAUcNBSAFKALkAUEgRw0FQQAhBgNAIAZBA0cEQCAkIAZBAnQiAmogAiAaaigCADYCACAGQQFqIQYMAQsLIAUoAswCIQILQbp/IQMgHyACayIEIBYgCWtLDQQgCQR/IAQEQCAJIAIgBPwKAAALIAQgCWoFQQALIBNrIQMMBAsgAkECRgRAIBwgA2siAiAUIAlrSw0BIAkEfyACBEAgCSADIAL8CgAACyACIAlqBUEACyEJIAhBiOwFaiEcIAhBiOwBaiEDCyAcIANrIgIgFCAJa0sNACAJBH8gAgRAIAkgAyAC/AoAAAsgAiAJagVBAAsgE2shAwwDC0G6fyEDDAILQWwhAwwBC0G4fyEDCyAFQdACaiQAIAMhBAwECyAgIDUgE2tLDQkgE0UEQCAgDQIMBQsgICIERQ0FIBMgHSAE/AoAAAwFCyAxKAIMIgQgAiATa0sNCCATDQEgBEUNAwtBtn8hBAwJCyAERQ0AIBMgHS0AACAE/AsACyAEQYh/Sw0HDAELQQAhBAsCQCAIKAL06gFFIBNFcg0AIAggCCkDkOoBIAStfDcDkOoBIAgoAtjqASIGIARqQR9NBEAgBARAIAYgNGogEyAE/AoAAAsgCCAIKALY6gEgBGo2AtjqAQwBCyATIQMgBgRAQSAgBmsiAgRAIAYgNGogAyAC/AoAAAsgCCgC2OoBIQIgCEEANgLY6gEgCCAIKQOY6gEgCCkAuOoBQs/W077Sx6vZQn58Qh+JQoeVr6+Ytt6bnn9+NwOY6gEgCCAIKQOg6gEgCCkAwOoBQs/W077Sx6vZQn58Qh+JQoeVr6+Ytt6bnn9+NwOg6gEgCCAIKQOo6gEgCCkAyOoBQs/W077Sx6vZQn58Qh+JQoeVr6+Ytt6bnn9+NwOo6gEgCCAIKQOw6gEgCCkA0OoBQs/W077Sx6vZQn58Qh+JQoeVr6+Ytt6bnn9+NwOw6gEgEyACa0EgaiEDCyAEIBNqIgYgA0Egak8EQCAGQSBrIQIgCCkDsOoBITsgCCkDqOoBITwgCCkDoOoBIT0gCCkDmOoBIToDQCAIIAMpAABCz9bTvtLHq9lCfiA6fEIfiUKHla+vmLbem55/fiI6NwOY6gEgCCADKQAIQs/W077Sx6vZQn4gPXxCH4lCh5Wvr5i23puef34iPTcDoOoBIAggAykAEELP1tO+0ser2UJ+IDx8Qh+JQoeVr6+Ytt6bnn9+Ijw3A6jqASAIIAMpABhCz9bTvtLHq9lCfiA7fEIfiUKHla+vmLbem55/fiI7NwOw6gEgA0EgaiIDIAJNDQALCyADIAZPDQAgBiADayICBEAgNCADIAL8CgAACyAIIAI2AtjqAQsgOCAgayEDIB0gIGohAiAEIBNqIRMgMSgCCEUNAAsgNikDACI6Qn9RIDogEyAsa6xRckUEQEFsIQYMBgsgCCgC4OkBBEBBaiEGIANBBEkNBiAIKALw6gFFBEAgAigAAAJ+IDcpAwAiPkIgWgRAIAgpA6DqASI7QgeJIAgpA5jqASI8QgGJfCAIKQOo6gEiPUIMiXwgCCkDsOoBIjpCEol8IDxCz9bTvtLHq9lCfkIfiUKHla+vmLbem55/foVCh5Wvr5i23puef35CnaO16oOxjYr6AH0gO0LP1tO+0ser2UJ+Qh+JQoeVr6+Ytt6bnn9+hUKHla+vmLbem55/fkKdo7Xqg7GNivoAfSA9Qs/W077Sx6vZQn5CH4lCh5Wvr5i23puef36FQoeVr6+Ytt6bnn9+Qp2jteqDsY2K+gB9IDpCz9bTvtLHq9lCfkIfiUKHla+vmLbem55/foVCh5Wvr5i23puef35CnaO16oOxjYr6AH0MAQsgCCkDqOoBQsXP2bLx5brqJ3wLID58IDQgPqcQIqdHDQcLIANBBGshAyACQQRqIQILIBMgLGsiBEGJf08NBCABIARrIQEgBCAsaiEsQQEhOQwBCwsgAwRAQbh/IQYMBAsgLCAAayEGDAMLQbp/IQQMAQtBuH8hBAtBuH8gBCAEQXZGGyAEIDkbIQYLIAgoApDrAQ0AIAgoAoTrASECIAgoAoDrASEDIAgQFiAIKALA6wEgAyACEBUgCEEANgLA6wEgCCgCrOsBIgEEQAJAAkACQAJAIAEoAgAiAARAIANFDQIgAiAAIAMRAgAMAQsgA0UNAgsgAiABIAMRAgAMAgsgABACCyABEAILIAhBADYCrOsBCyADBEAgAiAIIAMRAgAMAQsgCBACCyAxQRBqJAAgBgsKACAABEAQJgALCwMAAAsLzRIKAEGICAsFAQAAAAEAQZgIC9sEAQAAAAEAAACWAAAA2AAAAH0BAAB3AAAAqgAAAM0AAAACAgAAcAAAALEAAADHAAAAGwIAAG4AAADFAAAAwgAAAIQCAABrAAAA3QAAAMAAAADfAgAAawAAAAABAAC9AAAAcQMAAGoAAABnAQAAvAAAAI8EAABtAAAARgIAALsAAAAiBgAAcgAAALACAAC7AAAAsAYAAHoAAAA5AwAAugAAAK0HAACIAAAA0AMAALkAAABTCAAAlgAAAJwEAAC6AAAAFggAAK8AAABhBQAAuQAAAMMGAADKAAAAhAUAALkAAACfBgAAygAAAAAAAAABAAAAAQAAAAUAAAANAAAAHQAAAD0AAAB9AAAA/QAAAP0BAAD9AwAA/QcAAP0PAAD9HwAA/T8AAP1/AAD9/wAA/f8BAP3/AwD9/wcA/f8PAP3/HwD9/z8A/f9/AP3//wD9//8B/f//A/3//wf9//8P/f//H/3//z/9//9/AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8DAAAABAAAAAUAAAAGAAAABwAAAAgAAAAJAAAACgAAAAsAAAAMAAAADQAAAA4AAAAPAAAAEAAAABEAAAASAAAAEwAAABQAAAAVAAAAFgAAABcAAAAYAAAAGQAAABoAAAAbAAAAHAAAAB0AAAAeAAAAHwAAACAAAAAhAAAAIgAAACMAAAAlAAAAJwAAACkAAAArAAAALwAAADMAAAA7AAAAQwAAAFMAAABjAAAAgwAAAAMBAAADAgAAAwQAAAMIAAADEAAAAyAAAANAAAADgAAAAwABAEGgDQsVAQEBAQICAwMEBAUHCAkKCwwNDg8QAEHEDQuLAQEAAAACAAAAAwAAAAQAAAAFAAAABgAAAAcAAAAIAAAACQAAAAoAAAALAAAADAAAAA0AAAAOAAAADwAAABAAAAASAAAAFAAAABYAAAAYAAAAHAAAACAAAAAoAAAAMAAAAEAAAACAAAAAAAEAAAACAAAABAAAAAgAAAAQAAAAIAAAAEAAAACAAAAAAAEAQeAOC6YEAQEBAQICAwMEBgcICQoLDA0ODxABAAAABAAAAAgAAAABAAEBBgAAAAAAAAQAAAAAEAAABAAAAAAgAAAFAQAAAAAAAAUDAAAAAAAABQQAAAAAAAAFBgAAAAAAAAUHAAAAAAAABQkAAAAAAAAFCgAAAAAAAAUMAAAAAAAABg4AAAAAAAEFEAAAAAAAAQUUAAAAAAABBRYAAAAAAAIFHAAAAAAAAwUgAAAAAAAEBTAAAAAgAAYFQAAAAAAABwWAAAAAAAAIBgABAAAAAAoGAAQAAAAADAYAEAAAIAAABAAAAAAAAAAEAQAAAAAAAAUCAAAAIAAABQQAAAAAAAAFBQAAACAAAAUHAAAAAAAABQgAAAAgAAAFCgAAAAAAAAULAAAAAAAABg0AAAAgAAEFEAAAAAAAAQUSAAAAIAABBRYAAAAAAAIFGAAAACAAAwUgAAAAAAADBSgAAAAAAAYEQAAAABAABgRAAAAAIAAHBYAAAAAAAAkGAAIAAAAACwYACAAAMAAABAAAAAAQAAAEAQAAACAAAAUCAAAAIAAABQMAAAAgAAAFBQAAACAAAAUGAAAAIAAABQgAAAAgAAAFCQAAACAAAAULAAAAIAAABQwAAAAAAAAGDwAAACAAAQUSAAAAIAABBRQAAAAgAAIFGAAAACAAAgUcAAAAIAADBSgAAAAgAAQFMAAAAAAAEAYAAAEAAAAPBgCAAAAAAA4GAEAAAAAADQYAIABBkBMLhwIBAAEBBQAAAAAAAAUAAAAAAAAGBD0AAAAAAAkF/QEAAAAADwX9fwAAAAAVBf3/HwAAAAMFBQAAAAAABwR9AAAAAAAMBf0PAAAAABIF/f8DAAAAFwX9/38AAAAFBR0AAAAAAAgE/QAAAAAADgX9PwAAAAAUBf3/DwAAAAIFAQAAABAABwR9AAAAAAALBf0HAAAAABEF/f8BAAAAFgX9/z8AAAAEBQ0AAAAQAAgE/QAAAAAADQX9HwAAAAATBf3/BwAAAAEFAQAAABAABgQ9AAAAAAAKBf0DAAAAABAF/f8AAAAAHAX9//8PAAAbBf3//wcAABoF/f//AwAAGQX9//8BAAAYBf3//wBBoBULhgQBAAEBBgAAAAAAAAYDAAAAAAAABAQAAAAgAAAFBQAAAAAAAAUGAAAAAAAABQgAAAAAAAAFCQAAAAAAAAULAAAAAAAABg0AAAAAAAAGEAAAAAAAAAYTAAAAAAAABhYAAAAAAAAGGQAAAAAAAAYcAAAAAAAABh8AAAAAAAAGIgAAAAAAAQYlAAAAAAABBikAAAAAAAIGLwAAAAAAAwY7AAAAAAAEBlMAAAAAAAcGgwAAAAAACQYDAgAAEAAABAQAAAAAAAAEBQAAACAAAAUGAAAAAAAABQcAAAAgAAAFCQAAAAAAAAUKAAAAAAAABgwAAAAAAAAGDwAAAAAAAAYSAAAAAAAABhUAAAAAAAAGGAAAAAAAAAYbAAAAAAAABh4AAAAAAAAGIQAAAAAAAQYjAAAAAAABBicAAAAAAAIGKwAAAAAAAwYzAAAAAAAEBkMAAAAAAAUGYwAAAAAACAYDAQAAIAAABAQAAAAwAAAEBAAAABAAAAQFAAAAIAAABQcAAAAgAAAFCAAAACAAAAUKAAAAIAAABQsAAAAAAAAGDgAAAAAAAAYRAAAAAAAABhQAAAAAAAAGFwAAAAAAAAYaAAAAAAAABh0AAAAAAAAGIAAAAAAAEAYDAAEAAAAPBgOAAAAAAA4GA0AAAAAADQYDIAAAAAAMBgMQAAAAAAsGAwgAAAAACgYDBABBtBkLfAEAAAADAAAABwAAAA8AAAAfAAAAPwAAAH8AAAD/AAAA/wEAAP8DAAD/BwAA/w8AAP8fAAD/PwAA/38AAP//AAD//wEA//8DAP//BwD//w8A//8fAP//PwD//38A////AP///wH///8D////B////w////8f////P////38AQcQaC1kBAAAAAgAAAAQAAAAAAAAAAgAAAAQAAAAIAAAAAAAAAAEAAAACAAAAAQAAAAQAAAAEAAAABAAAAAQAAAAIAAAACAAAAAgAAAAHAAAACAAAAAkAAAAKAAAACwBBoBsLA6APAQ==";

  // page/src/unpack.js
  async function decode(text) {
    if ("fromBase64" in Uint8Array) return (
      /** @type {any} */
      Uint8Array.fromBase64(text)
    );
    const answer = await fetch(`data:application/zstd;base64,${text}`);
    return new Uint8Array(await answer.arrayBuffer());
  }
  async function unpack(text) {
    const decoder = new ZSTDDecoder();
    const [packed2] = await Promise.all([decode(text), decoder.init()]);
    const bytes = decoder.decode(packed2);
    if (!bytes.length) throw new Error("it is no Zstandard");
    return (
      /** @type {Uint8Array<ArrayBuffer>} */
      bytes
    );
  }

  // page/src/assets.js
  var packed = /* @__PURE__ */ new Map();
  var waiting = /* @__PURE__ */ new Map();
  Object.assign(window, {
    demoAssets: {
      add: (name, text) => {
        packed.set(name, text);
        waiting.get(name)?.();
      }
    }
  });
  function whenAsset(name, task) {
    waiting.set(name, task);
  }
  function hasAsset(name) {
    return packed.has(name);
  }
  function packedText(name) {
    const text = packed.get(name);
    if (!text) throw failure("assets-missing", `the page lacks its asset "${name}"`);
    return text;
  }
  async function assetBytes(name) {
    const text = packedText(name);
    try {
      return await unpack(text);
    } catch (error) {
      const reason = (
        /** @type {Error} */
        error.message
      );
      throw failure("assets-missing", `the page's asset "${name}" is damaged (${reason})`);
    }
  }
  async function loadAssets(address) {
    const script = document.createElement("script");
    const loaded = new Promise((resolve, reject) => {
      script.onload = resolve;
      script.onerror = () => reject(failure("assets-missing", `there is no ${address}`));
    });
    script.src = address;
    document.head.append(script);
    await loaded;
  }
  async function assetJson(name) {
    return JSON.parse(new TextDecoder().decode(await assetBytes(name)));
  }

  // page/src/environment.js
  function givenAddress() {
    return new URLSearchParams(`${location.hash.slice(1)}&${location.search.slice(1)}`);
  }
  function byId(id, _tag) {
    return (
      /** @type {any} */
      document.getElementById(id)
    );
  }
  function rootFontSize() {
    return Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
  }
  var memory = {
    /** @param {"localStorage"|"sessionStorage"} store @param {string} key */
    get(store, key) {
      try {
        return window[store].getItem(key) ?? "";
      } catch {
        return "";
      }
    },
    /** @param {"localStorage"|"sessionStorage"} store @param {string} key @param {string} value */
    set(store, key, value) {
      try {
        window[store].setItem(key, value);
      } catch {
      }
    }
  };
  function wantedBackend() {
    const wanted = givenAddress().get("backend") ?? "";
    return ["webgpu", "wasm"].includes(wanted) ? wanted : "";
  }
  function threadCount() {
    const wanted = Number.parseInt(givenAddress().get("threads") ?? "", 10);
    if (!self.crossOriginIsolated) return 1;
    return wanted > 0 ? wanted : Math.min(4, navigator.hardwareConcurrency);
  }
  function missingFeatures() {
    const needed = [
      "Worker",
      "WebAssembly",
      "createImageBitmap",
      "OffscreenCanvas",
      "ResizeObserver"
    ];
    const missing = needed.filter((name) => !(name in window));
    const video = "requestVideoFrameCallback";
    return video in HTMLVideoElement.prototype ? missing : [...missing, video];
  }

  // page/src/chart.js
  var MEDIAN_FRAMES = 30;
  var CHART_FRAMES = 120;
  var LINE_MS = 33;
  var FrameTimes = class {
    /** @type {Times[]} */
    #times = [];
    /** @type {number[]} */
    #ends = [];
    // when frames were on the stage, without a pause between them
    /** @param {Times} times @param {number} end When the frame was on the stage, in ms. */
    push(times2, end2) {
      this.#times = [...this.#times, times2].slice(-MEDIAN_FRAMES);
      this.#ends = [...this.#ends, end2].slice(-MEDIAN_FRAMES);
    }
    /** Forget the frame rate, as after a pause. */
    restart() {
      this.#ends = [];
    }
    clear() {
      this.#times = [];
      this.#ends = [];
    }
    /** @param {keyof Times} name @returns {number} Milliseconds; NaN without frames. */
    median(name) {
      const sorted = this.#times.map((times2) => times2[name]).sort((a, b) => a - b);
      const { length } = sorted;
      return (sorted[length - 1 >> 1] + sorted[length >> 1]) / 2;
    }
    /** @returns {number} NaN before the second frame. */
    fps() {
      const { length } = this.#ends;
      return 1e3 * (length - 1) / (this.#ends[length - 1] - this.#ends[0]);
    }
  };
  var TimeChart = class {
    #canvas;
    #context;
    /** @type {Times[]} */
    #times = [];
    /** @type {string[]} */
    #colours = [];
    // of pre, inference, post and the line
    /** @param {HTMLCanvasElement} canvas */
    constructor(canvas2) {
      this.#canvas = canvas2;
      this.#context = /** @type {CanvasRenderingContext2D} */
      canvas2.getContext("2d");
      new ResizeObserver(() => this.draw()).observe(canvas2);
      this.restyle();
    }
    /** Read the colours of the page's theme: those of the legend, and of the canvas' text. */
    restyle() {
      const parts = [...document.querySelectorAll(".times .key")];
      this.#colours = parts.map((key) => getComputedStyle(key).backgroundColor);
      this.#colours.push(getComputedStyle(this.#canvas).color);
      this.draw();
    }
    clear() {
      this.#times = [];
      this.draw();
    }
    /** @param {Times} times */
    push(times2) {
      this.#times = [...this.#times, times2].slice(-CHART_FRAMES);
      this.draw();
    }
    draw() {
      const { clientWidth, clientHeight } = this.#canvas;
      if (clientWidth === 0) return;
      const [width, height] = [clientWidth, clientHeight].map(
        (s) => Math.round(s * devicePixelRatio)
      );
      if (this.#canvas.width !== width) this.#canvas.width = width;
      if (this.#canvas.height !== height) this.#canvas.height = height;
      this.#context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
      this.#context.clearRect(0, 0, clientWidth, clientHeight);
      const top = this.#top();
      this.#bars(clientWidth, clientHeight, top);
      this.#line(clientWidth, clientHeight, top);
    }
    /** The chart's full height in ms: 1, 2 or 5 times a power of ten, at least 50. */
    #top() {
      const largest = Math.max(0, ...this.#times.map((t) => t.pre + t.inference + t.post));
      let top = 50;
      for (let step2 = 0; top < largest; step2 += 1) top *= step2 % 3 === 1 ? 2.5 : 2;
      return top;
    }
    #bars(width, height, top) {
      const slot = width / CHART_FRAMES;
      this.#times.forEach(({ pre, inference, post }, index) => {
        const x = width - (this.#times.length - index) * slot;
        let y = height;
        [pre, inference, post].forEach((time, part) => {
          const size = time / top * height;
          y -= size;
          this.#context.fillStyle = this.#colours[part];
          this.#context.fillRect(x, y, Math.max(1, slot - 0.5), size);
        });
      });
    }
    #line(width, height, top) {
      const context = this.#context;
      const y = Math.round(height * (1 - LINE_MS / top)) + 0.5;
      context.strokeStyle = this.#colours[3];
      context.fillStyle = this.#colours[3];
      context.lineWidth = 1;
      context.setLineDash([4, 3]);
      context.beginPath();
      context.moveTo(0, y);
      context.lineTo(width, y);
      context.stroke();
      context.setLineDash([]);
      context.font = `${0.6875 * rootFontSize()}px system-ui, sans-serif`;
      context.textBaseline = "bottom";
      context.fillText(`${LINE_MS} ms`, 2, y - 1);
      context.textBaseline = "top";
      if (top > 2 * LINE_MS) context.fillText(`${top} ms`, 2, 1);
    }
  };

  // page/src/detector.js
  var LONG_MS = 1e3;
  var START_PATIENCE_MS = 1e4;
  var Detector = class {
    #onProgress;
    #onLost;
    #onSlow;
    /** @type {Worker|null} */
    #worker = null;
    #programUrl = "";
    /** @type {{id: number, resolve: (value: any) => void, reject: (error: Error) => void}|null} */
    #pending = null;
    #calls = 0;
    /** Whether a call has lasted so long that the user may want to end it. */
    slow = false;
    #backend = "";
    // of the worker's runtime
    #threads = threadCount();
    /** @type {ReturnType<typeof setTimeout>|undefined} */
    #startTimer;
    // until it has started
    /** @type {Promise<unknown>|null} */
    #runtime = null;
    /** Whether there is a model to detect with. */
    loaded = false;
    #reason = { code: "runtime", message: "no model is loaded" };
    // why there is none
    /**
     * @param {object} handlers
     * @param {(stage: string) => void} handlers.onProgress Stages of `load`, in this order:
     *   "decoding", "runtime", "model", "warm-up", "compare"; the first two are those of `prepare`.
     * @param {(reason: string) => void} handlers.onLost The graphics device is gone; the detector
     *   then has to be loaded.
     * @param {() => void} handlers.onSlow Called when `slow` has changed.
     */
    constructor({ onProgress, onLost, onSlow }) {
      this.#onProgress = onProgress;
      this.#onLost = onLost;
      this.#onSlow = onSlow;
    }
    /** Start a worker's program, which takes time, before its runtime is in the page. */
    open() {
      if (!this.#worker) this.#startWorker();
    }
    /**
     * Start a worker with a back end's runtime, unless it is there; `load` need not wait for it then.
     * @param {string} backend "webgpu" or "wasm", whose runtime is in the page.
     * @returns {Promise<unknown>}
     */
    prepare(backend) {
      if (this.#runtime !== null && this.#backend !== backend) {
        this.#stop("runtime", "another runtime was wanted");
      }
      if (this.#runtime === null) {
        this.#backend = backend;
        this.#runtime = this.#startRuntime(backend);
      }
      return this.#runtime;
    }
    /**
     * Load a model and run it once. If that fails for the model's own fault, the model that was
     * loaded before stays in use, if it had the same back end.
     * @param {object} options
     * @param {Uint8Array} options.model An ONNX file; it is copied.
     * @param {Facts} options.facts
     * @param {string} options.backend As of `prepare`.
     * @param {Uint8Array} [options.graph] The model's graph as it was optimized before, for wasm; its
     *   weights are in `model`.
     * @param {boolean} [options.tried] Whether it is known to work; the first run is then left out.
     * @param {Blob} [options.sample] A picture on which WebGPU has to give what WebAssembly gives.
     * @returns {Promise<Info>}
     */
    async load({ model: model2, facts, backend, graph, tried = false, sample }) {
      await this.prepare(backend);
      const copy = model2.slice().buffer;
      try {
        const message = { type: "load", model: copy, facts, backend, graph, tried, sample };
        const info2 = await this.#call(message, [copy]);
        this.loaded = true;
        return { ...info2, threads: this.#threads };
      } catch (error) {
        const { code, message } = (
          /** @type {Error & {code: string}} */
          error
        );
        if (!this.loaded || code === "webgpu-failed") this.#stop(code, message);
        throw error;
      }
    }
    /**
     * @param {number} frames
     * @returns {Promise<number>} Milliseconds of one inference, the median of so many.
     */
    measure(frames2) {
      return this.#call({ type: "measure", frames: frames2 }, []);
    }
    /**
     * Find objects in a picture.
     * @param {ImageBitmap} bitmap Transferred to the worker and back; closed if this fails.
     * @param {{confidence: number, iou: number, enabled: number[]|null}} options See nms.js.
     * @returns {Promise<{detections: Detection[], bitmap: ImageBitmap, times: Times}>}
     */
    async detect(bitmap, options) {
      if (!this.loaded) {
        bitmap.close();
        throw failure(this.#reason.code, this.#reason.message);
      }
      return this.#call({ type: "detect", bitmap, options }, [bitmap]);
    }
    /**
     * Have the worker do a part of a lesson.
     * @param {{type: string}} message See teaching.js.
     * @returns {Promise<any>}
     */
    async teach(message) {
      if (!this.loaded) throw failure(this.#reason.code, this.#reason.message);
      return this.#call(message, [], Number.POSITIVE_INFINITY);
    }
    /** Whether the worker is at something. */
    get busy() {
      return this.#pending !== null;
    }
    /** End what the worker is at; it is rejected with "cancelled", and a model has to be loaded. */
    cancel() {
      this.#stop("cancelled", "it was stopped");
    }
    // ------------------------------------------------------------------------ loading
    /** @returns {Promise<unknown>} */
    async #startRuntime(backend) {
      this.#onProgress("decoding");
      const runtime = backend === "webgpu" ? "webgpu" : "runtime";
      const message = {
        type: "start",
        module: packedText(`${runtime}-mjs`),
        wasm: packedText(`${runtime}-wasm`),
        threads: this.#threads,
        backend
      };
      this.open();
      try {
        return await this.#call(message, []);
      } catch (error) {
        const { code, message: text } = (
          /** @type {Error & {code: string}} */
          error
        );
        if (code === "no-threads") {
          this.#threads = 1;
          return this.#startRuntime(backend);
        }
        this.#stop(code, text);
        throw error;
      }
    }
    // ------------------------------------------------------------------------ worker
    #startWorker() {
      this.#programUrl = URL.createObjectURL(new Blob([WORKER_TEXT], { type: "text/javascript" }));
      const worker = new Worker(this.#programUrl, { name: "detector" });
      const ifPresent = (handle) => (event) => worker === this.#worker && handle(event);
      worker.onmessage = ifPresent(({ data }) => this.#receive(data));
      worker.onerror = ifPresent((event) => {
        event.preventDefault();
        this.#stop("runtime", `the detector's worker failed: ${event.message ?? "it cannot start"}`);
      });
      this.#worker = worker;
    }
    /** End the worker; later calls are rejected with this code and message. */
    #stop(code, message) {
      this.#runtime = null;
      this.loaded = false;
      this.#reason = { code, message };
      this.#endWorker(code, message);
    }
    #endWorker(code, message) {
      clearTimeout(this.#startTimer);
      this.#worker?.terminate();
      this.#worker = null;
      URL.revokeObjectURL(this.#programUrl);
      this.#pending?.reject(failure(code, message));
      this.#pending = null;
      this.#setSlow(false);
    }
    /** @returns {Promise<any>} The worker's answer; if it takes longer than `patience`, it is slow. */
    #call(message, transfer, patience = LONG_MS) {
      if (this.#pending !== null) throw failure("busy", "the detector is at work; wait for it");
      const id = ++this.#calls;
      return new Promise((resolve, reject) => {
        this.#worker?.postMessage({ ...message, id }, transfer);
        this.#pending = { id, resolve, reject };
        if (patience === Number.POSITIVE_INFINITY) return;
        setTimeout(() => this.#pending?.id === id && this.#setSlow(true), patience);
      });
    }
    #setSlow(slow) {
      if (slow === this.slow) return;
      this.slow = slow;
      this.#onSlow();
    }
    #receive(data) {
      if (data.type === "progress") {
        this.#onProgress(data.stage);
        if (data.stage === "runtime" && this.#threads > 1) {
          const text = "several threads do not start";
          this.#startTimer = setTimeout(() => this.#endWorker("no-threads", text), START_PATIENCE_MS);
        }
      } else if (data.type === "lost") {
        this.#stop("device-lost", `the graphics device is gone (${data.reason})`);
        this.#onLost(data.reason);
      } else if (this.#pending !== null && this.#pending.id === data.id) {
        const { resolve, reject } = this.#pending;
        this.#pending = null;
        clearTimeout(this.#startTimer);
        this.#setSlow(false);
        if (data.type === "result") resolve(data.value);
        else reject(failure(data.code, data.message));
      }
    }
  };

  // page/src/agreement.js
  function inWords({ box, score }) {
    const digits = (value) => Number.isFinite(value) ? value.toPrecision(2) : String(value);
    return `${digits(box)} px, ${digits(score)} in score`;
  }

  // page/src/metadata.js
  var METADATA_PROPS = 14;
  function* fieldsOf(bytes) {
    let at = 0;
    const broken = failure("model-broken", "this is not a complete ONNX file");
    const readNumber2 = () => {
      let value = 0;
      for (let factor = 1; at < bytes.length; factor *= 128) {
        const byte = bytes[at++];
        value += (byte & 127) * factor;
        if (byte < 128) return value;
      }
      throw broken;
    };
    while (at < bytes.length) {
      const start2 = at;
      const key = readNumber2();
      const kind = key % 8;
      let length = { 1: 8, 5: 4 }[kind] ?? 0;
      if (kind === 0) readNumber2();
      if (kind === 2) length = readNumber2();
      if (![0, 1, 2, 5].includes(kind) || at + length > bytes.length) throw broken;
      const content = bytes.subarray(at, at + length);
      at += length;
      yield { field: Math.floor(key / 8), content, whole: bytes.subarray(start2, at) };
    }
  }
  function readMetadata(bytes) {
    const decoder = new TextDecoder();
    const metadata = {};
    for (const { field: field2, content } of fieldsOf(bytes)) {
      if (field2 !== METADATA_PROPS) continue;
      const pair = ["", "", ""];
      for (const part of fieldsOf(content)) pair[part.field] = decoder.decode(part.content);
      metadata[pair[1]] = pair[2];
    }
    return metadata;
  }
  function unquote(quoted) {
    const inner = quoted.slice(1, -1).replace(/\\(?:x(..)|U(.{8})|.)|"/gs, (match, byte, code) => {
      if (byte) return `\\u00${byte}`;
      if (code) return String.fromCodePoint(Number.parseInt(code, 16));
      return { "\\'": "'", '"': '\\"' }[match] ?? match;
    });
    return JSON.parse(`"${inner}"`);
  }
  function parseNames(text) {
    const item = /(?:["']?(\d{1,6})["']?\s*:\s*)?('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")/gs;
    const names = [];
    const rest = text.replace(item, (_, number2, name) => {
      names[number2 === void 0 ? names.length : Number(number2)] = unquote(name);
      return "";
    });
    if (!/^\s*(\{[\s,]*\}|\[[\s,]*\])\s*$/.test(rest)) throw new SyntaxError(text.slice(0, 80));
    return Array.from(names, (name, number2) => name ?? `class ${number2}`);
  }
  function otherModel(one, other) {
    if (one.export !== other.export) return `made of ${other.file}, and not of the same export`;
    if (String(one.facts.names) !== String(other.facts.names)) return "with other classes";
    if (one.facts.size === other.facts.size) return "";
    return `for ${other.facts.size} pixels instead of ${one.facts.size}`;
  }
  function readThreshold(metadata, key, standard) {
    const value = Number(metadata[key] ?? standard);
    if (value >= 0 && value <= 1) return value;
    throw failure(
      "model-shape",
      `the model's metadata gives "${key}" as ${metadata[key]}; needed: a number from 0 to 1`
    );
  }
  function readFacts(bytes) {
    const metadata = readMetadata(bytes);
    const side = /\d+/.exec(metadata.imgsz ?? "");
    const confidence = readThreshold(metadata, "conf", 0.25);
    const iou = readThreshold(metadata, "iou", 0.7);
    const size = side && Number(side[0]);
    try {
      const names = metadata.names === void 0 ? null : parseNames(metadata.names);
      const trainedOn = (metadata.trained_on ?? "").slice(0, 80);
      return { names: names?.length ? names : null, confidence, iou, size, trainedOn };
    } catch (error) {
      throw failure(
        "model-shape",
        `the class names in the model's metadata cannot be read: ${metadata.names.slice(0, 80)}; needed is metadata "names" such as {0: 'person', 1: 'cell phone'}`,
        error
      );
    }
  }

  // page/src/colours.js
  var FIXED = /* @__PURE__ */ new Map([
    ["person", "#28be46"],
    ["cell phone", "#ff8c00"]
  ]);
  var PALETTE = [
    "#2f8bff",
    "#e6323c",
    "#a65ce0",
    "#00b4be",
    "#f05aaa",
    "#b8a400",
    "#7c8cff",
    "#d9683c",
    "#c04fd0",
    "#3fa0c8",
    "#e87f9a",
    "#8f9a3c"
  ];
  var chosen = /* @__PURE__ */ new Map();
  function chooseColour(name, colour) {
    chosen.set(name, colour);
  }
  function resetColours() {
    chosen.clear();
  }
  function classColour(name, classId) {
    return chosen.get(name) ?? FIXED.get(name) ?? PALETTE[classId % PALETTE.length];
  }
  function inkOn(colour) {
    const [r, g, b] = [1, 3, 5].map((at) => {
      const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "#000000" : "#ffffff";
  }

  // page/src/text.js
  function setText(element, text) {
    if (element.textContent !== text) element.textContent = text;
  }
  function percent(score) {
    return score <= 1 ? `${Math.round(score * 100)} %` : score.toFixed(2);
  }
  function decimal(value, digits) {
    return Number.isNaN(value) ? "–" : value.toFixed(digits);
  }
  var MAX_NAMED = 5;
  function summary(detections) {
    const counts2 = /* @__PURE__ */ new Map();
    for (const { name } of detections) counts2.set(name, (counts2.get(name) ?? 0) + 1);
    const ranked = [...counts2].sort((a, b) => b[1] - a[1]);
    const parts = ranked.slice(0, MAX_NAMED).map(([name, count]) => `${count} × ${isolate(name)}`);
    const left = ranked.length - parts.length;
    if (left) parts.push(`and ${left} other ${left === 1 ? "class" : "classes"}`);
    return parts.length ? parts.join(", ") + scoresRemark(detections) : "nothing";
  }
  function isolate(text) {
    return /[\u0590-\u08ff\ufb1d-\ufeff]/.test(text) ? `⁨${text}⁩` : text;
  }
  function scoresRemark(detections) {
    if (detections.every(({ score }) => score <= 1)) return "";
    return " (with scores above 1: does the export lack its sigmoid?)";
  }
  function sentence(text) {
    const stop3 = /[.!?…]$/.test(text) ? "" : ".";
    return `${text.charAt(0).toUpperCase()}${text.slice(1)}${stop3}`;
  }

  // page/src/lists.js
  var MAX_ROWS = 50;
  var MANY_CLASSES = 12;
  function make(tag, className, ...children) {
    const element = document.createElement(tag);
    element.className = className;
    element.append(...children);
    return element;
  }
  var DetectionList = class {
    #list;
    #count;
    #empty;
    /** @type {{item: HTMLElement, name: HTMLElement, score: HTMLElement}[]} */
    #rows = [];
    /**
     * @param {HTMLElement} list
     * @param {HTMLElement} count
     * @param {HTMLElement} empty Shown when there are no rows, and to tell of rows left out.
     */
    constructor(list2, count, empty) {
      this.#list = list2;
      list2.parentElement.tabIndex = 0;
      this.#count = count;
      this.#empty = empty;
    }
    /** @param {NamedDetection[]|null} known Best first; null if the picture has not been seen yet. */
    show(known) {
      const detections = known ?? [];
      const shown2 = detections.slice(0, MAX_ROWS);
      for (const [index, detection] of shown2.entries()) this.#fill(index, detection);
      for (const row of this.#rows.slice(shown2.length)) row.item.remove();
      setText(this.#count, known ? String(known.length) : "");
      const left = detections.length - shown2.length;
      this.#empty.hidden = shown2.length > 0 && left === 0;
      const none = known ? "Nothing found." : "The model has not seen this picture.";
      setText(this.#empty, left ? `and ${left} more` : none);
    }
    #fill(index, { name, classId, score }) {
      this.#rows[index] ??= this.#makeRow();
      const row = this.#rows[index];
      if (!row.item.isConnected) this.#list.append(row.item);
      setText(row.name, name);
      setText(row.score, percent(score));
      row.item.style.setProperty("--share", score.toFixed(3));
      row.item.style.setProperty("--class-colour", classColour(name, classId));
    }
    #makeRow() {
      const name = make("span", "name");
      name.dir = "auto";
      const score = make("span", "score");
      const item = make("li", "", make("span", "swatch"), name, make("span", "bar"), score);
      return { item, name, score };
    }
  };
  var ClassFilter = class {
    #box;
    #search;
    /** @type {HTMLInputElement[]} */
    #inputs = [];
    /** @type {HTMLInputElement[]} */
    #colours = [];
    /** @type {string[]} */
    #names = [];
    /**
     * @param {HTMLElement} box
     * @param {HTMLInputElement} search Shown when there are many classes.
     * @param {() => void} onChange
     */
    constructor(box, search, onChange) {
      this.#box = box;
      this.#search = search;
      box.addEventListener("change", onChange);
      search.addEventListener("input", () => this.#find());
    }
    /** @param {string[]} names Of the model's classes; all are switched on. */
    setNames(names) {
      this.#search.hidden = names.length <= MANY_CLASSES;
      this.#search.value = "";
      this.#inputs = [];
      this.#colours = [];
      this.#names = names;
      this.#box.replaceChildren(...names.map((name, classId) => this.#row(name, classId)));
    }
    #row(name, classId) {
      const input = document.createElement("input");
      input.type = "checkbox";
      input.checked = true;
      input.dataset.class = String(classId);
      this.#inputs.push(input);
      const text = make("span", "", name);
      text.dir = "auto";
      const label2 = make("label", "check", input, text);
      return make("div", "class-row", label2, this.#colourInput(name, classId));
    }
    #colourInput(name, classId) {
      const colour = document.createElement("input");
      colour.type = "color";
      colour.value = classColour(name, classId);
      colour.setAttribute("aria-label", `Colour of ${isolate(name)}`);
      colour.addEventListener("input", () => chooseColour(name, colour.value));
      this.#colours.push(colour);
      return colour;
    }
    /** Give all classes the page's colours again. */
    resetColours() {
      resetColours();
      for (const [classId, colour] of this.#colours.entries()) {
        colour.value = classColour(this.#names[classId], classId);
      }
    }
    #find() {
      const wanted = this.#search.value.trim().toLowerCase();
      for (
        const row of
        /** @type {Iterable<HTMLElement>} */
        this.#box.children
      ) {
        row.hidden = !row.textContent.toLowerCase().includes(wanted);
      }
    }
    /** @param {boolean} on Switch all classes on or off. */
    setAll(on) {
      for (const input of this.#inputs) input.checked = on;
    }
    /** @param {string[]} names Switch these classes off and all others on. */
    setOff(names) {
      for (const [classId, input] of this.#inputs.entries()) {
        input.checked = !names.includes(this.#names[classId]);
      }
    }
    /** @returns {number[]|null} Ids of the classes that are on; null if all are. */
    enabled() {
      if (this.#inputs.every((input) => input.checked)) return null;
      return this.#inputs.flatMap((input, classId) => input.checked ? [classId] : []);
    }
  };

  // page/src/settings.js
  var THRESHOLDS = ["confidence", "iou"];
  var changed = () => {
  };
  var classFilter = new ClassFilter(byId("class-filter"), byId("class-search"), () => changed());
  function currentSettings() {
    return {
      confidence: Number(byId("confidence").value),
      iou: Number(byId("iou").value),
      enabled: classFilter.enabled()
    };
  }
  function showThreshold(name) {
    setText(byId(`${name}-value`), Number(byId(name).value).toFixed(2));
  }
  function setThresholds(info2) {
    for (const name of THRESHOLDS) {
      byId(name).value = String(info2[name]);
      showThreshold(name);
    }
  }
  function setClasses(names) {
    classFilter.setNames(names);
  }
  function setClassesOff(names) {
    classFilter.setOff(names);
  }
  function wireSettings(onChange) {
    changed = onChange;
    for (const name of THRESHOLDS) {
      byId(name).addEventListener("input", () => {
        showThreshold(name);
        onChange();
      });
    }
    const all = (on) => () => {
      classFilter.setAll(on);
      onChange();
    };
    byId("class-filter").addEventListener("input", ({ target }) => {
      const { type } = (
        /** @type {HTMLInputElement} */
        target
      );
      if (type === "color") byId("colours-reset", "button").hidden = false;
    });
    byId("colours-reset").addEventListener("click", () => {
      classFilter.resetColours();
      byId("colours-reset", "button").hidden = true;
      byId("classes-all").focus();
      onChange();
    });
    byId("classes-all").addEventListener("click", all(true));
    byId("classes-none").addEventListener("click", all(false));
  }

  // page/src/drawing.js
  var MAX_SIDE = 4096;
  var MAX_SCALE = 3;
  var Drawing = class {
    #canvas;
    #frame;
    context;
    /** Canvas pixels per pixel of the picture. */
    scale = 1;
    /**
     * @param {HTMLCanvasElement} canvas
     * @param {HTMLElement} frame The element whose size the picture is fitted into.
     */
    constructor(canvas2, frame) {
      this.#canvas = canvas2;
      this.#frame = frame;
      this.context = /** @type {CanvasRenderingContext2D} */
      canvas2.getContext("2d");
    }
    /**
     * Show a picture, and boxes on it.
     * @param {ImageBitmap} bitmap
     * @param {NamedDetection[]} detections In pixels of the bitmap.
     * @param {boolean} mirrored Show the picture as a mirror does; the letters stay readable.
     */
    draw(bitmap, detections, mirrored) {
      this.#fit(bitmap);
      const { width, height } = this.#canvas;
      const context = this.context;
      context.setTransform(mirrored ? -1 : 1, 0, 0, 1, mirrored ? width : 0, 0);
      context.drawImage(bitmap, 0, 0, width, height);
      context.setTransform(1, 0, 0, 1, 0, 0);
      const { unit } = this;
      for (const detection of detections.toReversed()) this.#box(detection, mirrored, unit);
    }
    /**
     * Show other boxes instead, right of a divide.
     * @param {ImageBitmap} bitmap
     * @param {NamedDetection[]} detections
     * @param {boolean} mirrored
     * @param {number} divide A share of the width.
     */
    drawBeside(bitmap, detections, mirrored, divide2) {
      const { context, unit } = this;
      const { width, height } = this.#canvas;
      const x = Math.round(divide2 * width);
      context.save();
      context.beginPath();
      context.rect(x, 0, width - x, height);
      context.clip();
      this.draw(bitmap, detections, mirrored);
      context.restore();
      for (
        const [thickness, colour] of
        /** @type {const} */
        [
          [4, "#101317"],
          [2, "#ffffff"]
        ]
      ) {
        context.fillStyle = colour;
        context.fillRect(x - thickness * unit / 2, 0, thickness * unit, height);
      }
    }
    /** Small pictures get a larger canvas, or their letters would be blurred. */
    #fit(bitmap) {
      const shown2 = this.#frame.clientWidth * devicePixelRatio;
      const larger = Math.min(Math.max(Math.round(shown2 / bitmap.width), 1), MAX_SCALE);
      const limit = MAX_SIDE / Math.max(bitmap.width, bitmap.height);
      this.scale = Math.min(larger, limit >= 1 ? Math.floor(limit) : limit);
      const width = Math.max(1, Math.round(bitmap.width * this.scale));
      const height = Math.max(1, Math.round(bitmap.height * this.scale));
      if (this.#canvas.width !== width) this.#canvas.width = width;
      if (this.#canvas.height !== height) this.#canvas.height = height;
    }
    /** Canvas pixels per pixel of the page at the usual size of letters, so that they grow with it. */
    get unit() {
      const { width, height } = this.#canvas;
      const { clientWidth, clientHeight } = this.#frame;
      if (!clientWidth || !clientHeight) return 1;
      return rootFontSize() / 16 * Math.max(width / clientWidth, height / clientHeight);
    }
    /** @param {NamedDetection} detection */
    #box(detection, mirrored, unit) {
      const { scale } = this;
      const left = mirrored ? this.#canvas.width - detection.x2 * scale : detection.x1 * scale;
      const top = detection.y1 * scale;
      const width = (detection.x2 - detection.x1) * scale;
      const height = (detection.y2 - detection.y1) * scale;
      const colour = classColour(detection.name, detection.classId);
      const context = this.context;
      context.lineJoin = "round";
      context.lineWidth = Math.max(2, 2.5 * unit);
      context.strokeStyle = colour;
      context.strokeRect(left, top, width, height);
      const number2 = detection.number ? `#${detection.number} ` : "";
      const text = `${isolate(detection.name)} ${number2}${percent(detection.score)}`;
      this.#label(text, left, top, colour, unit);
    }
    #label(text, left, top, colour, unit) {
      const context = this.context;
      const size = Math.max(9, Math.round(13 * unit));
      const pad = size * 0.35;
      context.font = `600 ${size}px system-ui, -apple-system, "Segoe UI", sans-serif`;
      context.textBaseline = "middle";
      const width = context.measureText(text).width + 2 * pad;
      const height = size * 1.5;
      const edge = context.lineWidth / 2;
      const x = Math.max(0, Math.min(left - edge, this.#canvas.width - width));
      const y = top - height >= 0 ? top - height : Math.max(0, top);
      context.fillStyle = colour;
      context.fillRect(x, y, width, height);
      context.fillStyle = inkOn(colour);
      context.fillText(text, x + pad, y + height / 2);
    }
    /** @returns {Promise<Blob>} What is shown as PNG, boxes included. */
    snapshot() {
      return new Promise((resolve, reject) => {
        this.#canvas.toBlob(
          (blob) => blob ? resolve(blob) : reject(new Error("the stage gives no PNG"))
        );
      });
    }
  };

  // page/src/messages.js
  var BUILD_COMMAND = "cd examples/onnx/onnx-yolo-demo && ../../../.venv/bin/python -m tools.build_demo MODEL.onnx";
  var PICTURE = ["Use a picture instead", "open-picture"];
  var SAMPLE = ["Show a sample", "show-sample"];
  var SCREENS = {
    "no-assets": {
      title: "The page has to be built first",
      happened: "The runtime or the model is missing in this page, or damaged.",
      todo: "In the folder that holds the whole repository, after bash setup.sh, build the page from an exported model (bash train.sh makes one and builds the page, too), and open the page that it names:",
      command: BUILD_COMMAND,
      actions: [["Reload", "reload"]]
    },
    "no-camera": {
      title: "No camera",
      happened: "No camera is connected to this device.",
      todo: "Connect a camera, or end the program that uses it, and try again. Pictures and videos work without one.",
      actions: [["Try again", "retry-camera"], PICTURE, SAMPLE]
    },
    "camera-refused": {
      title: "The camera is not allowed",
      happened: "The browser did not allow the camera.",
      todo: "Allow it by the camera sign in the address bar or in the browser's settings, and try again. No picture leaves this device.",
      actions: [["Try again", "retry-camera"], PICTURE, SAMPLE]
    },
    "no-webgpu": {
      title: "WebGPU is not available",
      happened: "This browser or this device offers no WebGPU.",
      todo: "WebAssembly gives the same detections on every device, only slower.",
      actions: [
        ["Use WebAssembly", "use-wasm"],
        ["Back", "dismiss"]
      ]
    },
    "model-broken": {
      title: "This file is not a model",
      happened: "The file is no ONNX model, or a part of it is missing.",
      todo: "Choose an .onnx file, for example one exported by this example's train.sh.",
      actions: [
        ["Choose another", "open-model"],
        ["Use the built-in model", "builtin-model"]
      ]
    },
    "model-refused": {
      title: "This model does not run here",
      happened: "The model cannot be computed in this browser.",
      todo: "Mend what is said here, or choose another .onnx file.",
      actions: [
        ["Choose another", "open-model"],
        ["Use the built-in model", "builtin-model"]
      ]
    },
    "model-shape": {
      title: "This model does not fit the page",
      happened: "The model's input or output has another shape.",
      todo: "The page takes detectors with one square picture as input, (1, 3, S, S), and the output (1, 4 + classes, boxes), the same transposed, or finished boxes, (1, boxes, 6).",
      actions: [
        ["Choose another", "open-model"],
        ["Use the built-in model", "builtin-model"]
      ]
    },
    "file-broken": {
      title: "This file does not open",
      happened: "The browser can not read the file.",
      todo: "Choose a picture (JPEG, PNG, WebP), a video (MP4, WebM) or an .onnx model.",
      actions: [PICTURE, SAMPLE]
    },
    "teach-failed": {
      title: "The teaching failed",
      happened: "The model is as it was before; your frames and boxes are still there.",
      todo: "Teach again, with fewer frames if memory was short, or reload the page after saving them.",
      actions: [
        ["Teach again", "teach"],
        ["Back", "dismiss"]
      ]
    },
    stopped: {
      title: "Stopped",
      happened: "You have ended what took too long.",
      todo: "Load the model again, or take one that is faster: smaller, or for smaller pictures.",
      actions: [
        ["Load it again", "reload-model"],
        ["Choose another", "open-model"],
        ["Use the built-in model", "builtin-model"]
      ]
    },
    "device-lost": {
      title: "The GPU went away",
      happened: "The browser lost its connection to the GPU.",
      todo: "The model is loaded again; this takes a moment.",
      actions: []
    },
    "no-script-support": {
      title: "This browser is too old",
      happened: "The page needs parts that this browser lacks.",
      todo: "Open the page in a current Chrome, Edge, Firefox or Safari.",
      actions: [["Reload", "reload"]]
    },
    runtime: {
      title: "The detector stopped",
      happened: "The runtime that computes the model reported an error.",
      todo: "Try again. If that does not help, choose WebAssembly as back end, or reload the page.",
      actions: [
        ["Try again", "reload-model"],
        ["Use WebAssembly", "use-wasm"],
        ["Reload the page", "reload"]
      ]
    }
  };
  function add(parent, tag, className, text) {
    const node = document.createElement(tag);
    if (className) node.className = className;
    node.textContent = text;
    parent.append(node);
    return node;
  }
  function writeScreen(section, id, { happened, detail }, onAction) {
    const screen = SCREENS[id];
    section.dataset.screen = id;
    section.replaceChildren();
    const body = add(section, "div", "message-body", "");
    add(body, "h2", "", screen.title);
    add(body, "p", "", happened || screen.happened);
    if (detail) add(body, "p", "detail", detail);
    add(body, "p", "", screen.todo);
    if (screen.command) add(body, "code", "command", screen.command);
    const row = add(body, "div", "message-actions", "");
    screen.actions.forEach(([text, action], index) => {
      const button = add(row, "button", index === 0 ? "button primary" : "button", text);
      button.type = "button";
      button.dataset.action = action;
      button.addEventListener("click", () => onAction(action));
    });
    section.hidden = false;
    section.scrollIntoView({ block: "nearest" });
  }

  // page/src/status.js
  var activity = {
    running: false,
    // the frame loop
    paused: false,
    // a camera or video was stopped, and its last frame is shown
    teaching: false,
    // the model learns; the detector rests
    booting: true,
    // until the first picture has its detections
    usable: false
    // whether the browser and the page's files allow anything at all
  };
  var demo = {
    ready: false,
    state: "loading",
    /** @type {string|null} Id of the message screen that is shown. */
    screen: null,
    /** @type {Info|null} */
    info: null,
    /** @type {any} The last detections, with their picture and settings; see stage.js. */
    last: null,
    frames: 0,
    /** @type {string[]} */
    errors: [],
    /** @type {number|null} */
    firstResultMs: null
  };
  var handlers = { onState: () => {
  }, onAction: (_action) => {
  } };
  function connect(given) {
    Object.assign(handlers, given);
  }
  function say(text, bad = false) {
    setText(byId("status"), text);
    byId("status").classList.toggle("bad", bad);
  }
  function presentState() {
    if (activity.teaching) return "teaching";
    if (activity.running) return "running";
    if (demo.screen) return "error";
    if (!demo.ready) return "loading";
    return activity.paused ? "paused" : "ready";
  }
  function settle() {
    demo.state = presentState();
    document.body.dataset.state = demo.state;
    handlers.onState();
  }
  function settleReady() {
    demo.ready = demo.info !== null && !activity.booting && !activity.teaching;
    settle();
  }
  function showScreen(id, texts = {}) {
    demo.screen = id;
    writeScreen(byId("message"), id, texts, (action) => handlers.onAction(action));
    const title = sentence(SCREENS[id].title);
    say(texts.happened || [title, texts.detail].filter(Boolean).join(" "), true);
    settle();
  }
  function hideScreen() {
    demo.screen = null;
    byId("message").hidden = true;
    byId("message").replaceChildren();
    settle();
  }
  function showFailure(error) {
    const code = error.code === "assets-missing" ? "no-assets" : error.code;
    const id = Object.hasOwn(SCREENS, code) ? code : "runtime";
    const own = ["no-camera", "camera-refused", "file-broken"].includes(id);
    showScreen(id, { [own ? "happened" : "detail"]: sentence(error.message) });
  }
  async function attempt(task) {
    try {
      await task();
    } catch (error) {
      showFailure(error);
    }
  }
  function recordError(text) {
    demo.errors.push(text);
    say(`Error: ${text}`, true);
  }
  function watchErrors() {
    window.addEventListener("error", (event) => recordError(event.message || "unknown error"));
    window.addEventListener(
      "unhandledrejection",
      ({ reason }) => recordError(String(reason?.message ?? reason))
    );
    document.addEventListener(
      "securitypolicyviolation",
      (event) => recordError(`the page's policy blocked ${event.blockedURI} (${event.violatedDirective})`)
    );
  }

  // page/src/stage.js
  var NUMBERS_EVERY_MS = 250;
  var drawing = new Drawing(byId("stage", "canvas"), byId("stage-frame"));
  var chart = new TimeChart(byId("chart", "canvas"));
  var frameTimes = new FrameTimes();
  var list = new DetectionList(
    byId("detections"),
    byId("detections-count"),
    byId("detections-empty")
  );
  var layers = [];
  var shown = null;
  var seen = false;
  var numbersAt = 0;
  function onStage() {
    return shown;
  }
  function addLayer(layer) {
    layers.push(layer);
  }
  function paint(next) {
    drawing.draw(next.bitmap, next.detections, next.mirrored);
    for (const layer of layers) layer.paint?.(drawing, next);
  }
  function replace(next) {
    paint(next);
    if (shown && shown.bitmap !== next.bitmap) shown.bitmap.close();
    shown = next;
  }
  function forgetDetections() {
    seen = false;
    list.show(null);
  }
  var isSeen = () => seen;
  function putOnStage(bitmap, title) {
    forgetDetections();
    replace({ bitmap, title, mirrored: false, detections: [] });
  }
  function showDetections(frame, detections, times2, settings) {
    const { bitmap, mirrored, title } = frame;
    for (const layer of layers) layer.see?.(frame, detections);
    replace({ ...frame, detections });
    demo.frames += 1;
    demo.last = {
      detections,
      width: bitmap.width,
      height: bitmap.height,
      times: times2,
      frame: demo.frames,
      title,
      mirrored,
      scale: drawing.scale,
      settings
    };
    demo.firstResultMs ??= performance.now();
    list.show(detections);
    if (!seen) {
      seen = true;
      settle();
    }
    frameTimes.push(times2, performance.now());
    chart.push(times2);
    showNumbers();
  }
  function redraw() {
    if (shown && !activity.running) paint(shown);
  }
  function watchSize() {
    new ResizeObserver(redraw).observe(byId("stage-frame"));
  }
  function showNumbers() {
    const now = performance.now();
    if (activity.running && now - numbersAt < NUMBERS_EVERY_MS) return;
    numbersAt = now;
    for (
      const name of
      /** @type {const} */
      ["pre", "inference", "post"]
    ) {
      setText(byId(`time-${name}`), decimal(frameTimes.median(name), 1));
    }
    const fps = activity.running ? frameTimes.fps() : Number.NaN;
    setText(byId("fps"), decimal(fps, fps < 9.95 ? 1 : 0));
  }
  function clearTimes() {
    frameTimes.clear();
    chart.clear();
  }
  var restartRate = () => frameTimes.restart();
  var restyleChart = () => chart.restyle();
  var snapshot = () => drawing.snapshot();

  // page/src/webgpu.js
  function describe(adapter) {
    const info2 = adapter.info ?? {};
    const words = [info2.vendor, info2.architecture, info2.device, info2.description];
    return words.filter(Boolean).join(" ") || "unnamed adapter";
  }
  function isSoftware(adapter, name) {
    const said = adapter.info?.isFallbackAdapter ?? adapter.isFallbackAdapter ?? false;
    return said || /swiftshader|llvmpipe|lavapipe|basic render/i.test(name);
  }
  async function findAdapter() {
    const none = (note) => ({ adapter: "", software: false, note });
    const { gpu } = (
      /** @type {any} */
      navigator
    );
    if (!gpu) return none("this browser, or this address, does not offer WebGPU");
    try {
      const found = await gpu.requestAdapter();
      if (!found) return none("the browser found no graphics adapter for WebGPU");
      const adapter = describe(found);
      const software = isSoftware(found, adapter);
      const slow = `WebGPU's only adapter (${adapter}) is a slow imitation by software`;
      return { adapter, software, note: software ? slow : "" };
    } catch (error) {
      return none(`WebGPU does not start: ${/** @type {Error} */
      error.message}`);
    }
  }
  async function loadLater(asset, id, without) {
    if (hasAsset(asset)) return;
    const source2 = byId(id, "script")?.getAttribute("src");
    try {
      if (!source2) throw failure("assets-missing", "a single file holds it only if built so");
      await loadAssets(source2);
      if (!hasAsset(asset)) throw failure("assets-missing", `${source2} lacks it`);
    } catch (error) {
      const reason = (
        /** @type {Error} */
        error.message
      );
      throw failure(
        "no-webgpu",
        `this copy of the page ${without} (${reason}); tools.build_demo adds what WebGPU needs`
      );
    }
  }
  function loadWebgpuRuntime() {
    const without = "holds the runtime for WebAssembly alone";
    return loadLater("webgpu-wasm", "webgpu-runtime", without);
  }
  async function loadFloats(own) {
    const without = "holds its model in 8-bit integers alone, which WebGPU does not compute";
    await loadLater("model-webgpu-info", "webgpu-model", without);
    const other = otherModel(own, await assetJson("model-webgpu-info"));
    if (!other) return;
    throw failure(
      "no-webgpu",
      `the floats for WebGPU beside this page are of another model (${other}); build the page again`
    );
  }

  // page/src/model.js
  var OTHER_BACKENDS = 'choose the backend "wasm" or "auto"';
  var PROGRESS = {
    decoding: [0.1, "Unpacking the runtime…"],
    runtime: [0.35, "Starting the runtime…"],
    model: [0.55, "Loading the model…"],
    "warm-up": [0.8, "First run of the model…"],
    compare: [0.9, "Comparing WebGPU with WebAssembly…"]
  };
  var model = {
    /** @type {Model|null} The one in use. */
    current: null,
    /** @type {object} What is noted of it. */
    noted: {},
    /** The back end that was asked for with it. */
    requested: "auto",
    /** Called with the reason when the GPU is gone. */
    onLost: (_reason) => {
    }
  };
  var detector = new Detector({
    onProgress: showProgress,
    onLost: lost,
    onSlow: () => {
      if (detector.slow && !activity.running) say("This takes long. Stop ends it.");
      settle();
    }
  });
  function prepareRuntime() {
    detector.open();
    whenAsset("runtime-wasm", () => detector.prepare("wasm").catch(() => {
    }));
  }
  function lost(reason) {
    model.onLost(reason);
  }
  function builtinModel() {
    const read2 = async (backend) => {
      const own = await assetJson("model-info");
      const asFloats = backend === "webgpu" && own.weights === "int8";
      if (asFloats) await loadFloats(own);
      const name = asFloats ? "model-webgpu" : "model";
      const { facts, ...noted } = asFloats ? await assetJson(`${name}-info`) : own;
      const graph = backend === "wasm" ? await assetBytes("model-graph") : void 0;
      return { bytes: await assetBytes(name), facts, noted, graph, tried: true };
    };
    return { name: "built-in model", builtin: true, read: read2 };
  }
  var MAX_MODEL_BYTES = 1e9;
  async function readModel(file) {
    if (file.size > MAX_MODEL_BYTES) {
      const size = (file.size / 1e9).toFixed(1);
      throw failure(
        "model-refused",
        `it has ${size} GB, and the page takes up to 1 GB; take a smaller network, or one with int8 or float16 weights`
      );
    }
    try {
      return new Uint8Array(await file.arrayBuffer());
    } catch (error) {
      const reason = (
        /** @type {Error} */
        error.message
      );
      throw failure("model-refused", `the browser cannot read it: ${reason}`, error);
    }
  }
  function ownModel(file, name) {
    const read2 = async () => {
      const bytes = file instanceof Uint8Array ? file : await readModel(file);
      return { bytes, facts: readFacts(bytes) };
    };
    return { name: name ?? ("name" in file ? file.name : "model.onnx"), builtin: false, read: read2 };
  }
  var queue = Promise.resolve();
  function alone(task) {
    const result2 = queue.then(task);
    queue = result2.catch(() => {
    });
    return result2;
  }
  var isSlow = () => detector.slow;
  function cancelWork() {
    if (!detector.busy) return;
    demo.info = null;
    detector.cancel();
  }
  var detect = (bitmap, settings) => detector.detect(bitmap, settings);
  var teach = (message) => detector.teach(message);
  async function loadOrKeep(wanted, backend, job) {
    const { current, requested } = model;
    try {
      await loadInto(wanted, backend, job.ending);
    } catch (error) {
      byId("backend").value = current ? requested : backend;
      const failed = (
        /** @type {Error & {code?: string}} */
        error
      );
      if (failed.code?.startsWith("model-")) {
        failed.message = `File ${wanted.name}: ${failed.message}`;
      }
      if (!detector.loaded) {
        demo.info = null;
        if (current && job.isLast()) await loadInto(current, requested).catch(() => {
        });
        if (demo.info && failed.code === "no-webgpu") noteWay(failed.message);
      }
      throw error;
    }
  }
  async function loadOrWasm(wanted, backend) {
    try {
      await loadInto(wanted, backend);
    } catch (error) {
      if (backend === "wasm") throw error;
      await loadInto(wanted, "wasm");
    }
  }
  async function firstWay(requested) {
    if (requested !== "webgpu") return { backend: "wasm", adapter: "", note: "" };
    const { adapter, note } = await findAdapter();
    if (!adapter) throw failure("no-webgpu", `${note}; ${OTHER_BACKENDS}`);
    await loadWebgpuRuntime();
    return { backend: "webgpu", adapter, note };
  }
  async function read(wanted, requested) {
    const way = await firstWay(requested);
    return { way, ...await wanted.read(way.backend), sample: await comparedPicture(way.backend) };
  }
  async function comparedPicture(backend) {
    if (backend !== "webgpu") return void 0;
    const [{ asset, type }] = await assetJson("samples");
    return new Blob([await assetBytes(asset)], { type });
  }
  function withDifference({ difference }, note) {
    if (!difference) return note;
    const text = `compared on a sample: WebGPU differs from WebAssembly by at most ${inWords(difference)}`;
    return [note, text].filter(Boolean).join("; ");
  }
  function unlessEnded(promise, ending) {
    return new Promise((resolve, reject) => {
      const end2 = () => reject(failure("cancelled", "it was stopped"));
      if (ending?.aborted) end2();
      ending?.addEventListener("abort", end2);
      promise.then(resolve, reject);
    });
  }
  async function loadInto(wanted, requested, ending) {
    const opened = await unlessEnded(read(wanted, requested), ending);
    const { way, bytes, facts, noted = {}, graph, tried, sample } = opened;
    const found = await detector.load({ model: bytes, facts, backend: way.backend, graph, tried, sample }).catch((error) => {
      if (error.code !== "webgpu-failed") throw error;
      throw failure("no-webgpu", `WebGPU failed: ${error.message}; ${OTHER_BACKENDS}`);
    });
    use(wanted, requested, { ...found, ...way, note: withDifference(found, way.note) }, noted);
    showOrigin(facts.trainedOn);
  }
  function use(wanted, requested, found, noted) {
    const info2 = { ...found, requested, modelName: wanted.name };
    const sameClasses = demo.info && String(demo.info.names) === String(info2.names);
    const sameModel = model.current === wanted;
    Object.assign(model, { current: wanted, noted, requested });
    demo.info = info2;
    byId("backend").value = requested;
    if (!sameClasses) setClasses(info2.names);
    if (!sameModel) setThresholds(info2);
    clearTimes();
    showInfo(info2);
  }
  var MEASURED_FRAMES = 5;
  async function preferFaster() {
    const { current, requested } = model;
    const { info: info2 } = demo;
    if (!current || !info2 || requested !== "auto" || info2.backend !== "wasm") return;
    const { adapter, software, note } = await findAdapter();
    const rival = new Detector({ onProgress: () => {
    }, onLost: lost, onSlow: settle });
    const stale = () => demo.info !== info2;
    try {
      if (!adapter || software) throw failure("no-webgpu", note);
      await loadWebgpuRuntime();
      const { bytes, facts, noted = {} } = await current.read("webgpu");
      if (stale()) return;
      const sample = await comparedPicture("webgpu");
      const found = await rival.load({ model: bytes, facts, backend: "webgpu", sample });
      await alone(async () => {
        if (stale()) return;
        const ours = await detector.measure(MEASURED_FRAMES);
        const theirs = await rival.measure(MEASURED_FRAMES);
        const measured = withDifference(
          found,
          `measured on this device, milliseconds an inference: WebGPU ${theirs.toFixed(1)}, WebAssembly ${ours.toFixed(1)}`
        );
        if (stale()) return;
        if (theirs >= ours) {
          noteWay(measured);
          return;
        }
        detector.cancel();
        detector = rival;
        use(current, "auto", { ...found, backend: "webgpu", adapter, note: measured }, noted);
      });
    } catch (error) {
      const { message, code } = (
        /** @type {Error & {code: string}} */
        error
      );
      if (!stale()) noteWay(code === "no-webgpu" ? message : `WebGPU failed: ${message}`);
    } finally {
      if (rival !== detector) rival.cancel();
    }
  }
  function noteWay(note) {
    Object.assign(
      /** @type {Info} */
      demo.info,
      { note }
    );
    showNote(note);
  }
  function showProgress(stage) {
    const [share, text] = PROGRESS[stage];
    byId("progress", "progress").value = share;
    setText(byId("progress-text"), text);
  }
  function showInfo({ modelName, names, layout, size, backend, adapter, threads, note }) {
    const [height, width] = size;
    const classes = `${names.length} ${names.length === 1 ? "class" : "classes"}`;
    const file = "file" in model.noted ? `, ${model.noted.file}` : "";
    setText(byId("model-name"), modelName);
    const ends = layout === "finished" ? ", suppresses overlaps itself" : "";
    setText(byId("model-facts"), `${width} × ${height} pixels, ${classes}${ends}${file}`);
    const fewer = threads < threadCount() ? "; several did not start" : "";
    const wasm2 = `WebAssembly, ${threads} ${threads === 1 ? "thread" : "threads"}${fewer}`;
    const webgpu = adapter ? `WebGPU, ${adapter}` : "WebGPU";
    setText(byId("backend-shown"), backend === "webgpu" ? webgpu : wasm2);
    showNote(note);
  }
  function showOrigin(trainedOn = "") {
    byId("model-origin").hidden = !trainedOn;
    setText(
      byId("model-origin"),
      `This model has learned from ${isolate(trainedOn)} only: of other pictures, such as a camera's, expect little.`
    );
  }
  function showNote(note) {
    byId("backend-note").hidden = !note;
    setText(byId("backend-note"), note ? sentence(note) : "");
  }
  function modelFacts() {
    const { modelName, size, names, backend, adapter, threads } = (
      /** @type {Info} */
      demo.info
    );
    return { name: modelName, size, names, backend, adapter, threads, ...model.noted };
  }

  // page/src/pairs.js
  function overlapOf(a, b) {
    const width = Math.min(a.x2, b.x2) - Math.max(a.x1, b.x1);
    const height = Math.min(a.y2, b.y2) - Math.max(a.y1, b.y1);
    const shared = Math.max(width, 0) * Math.max(height, 0);
    const area2 = ({ x1, y1, x2, y2 }) => (x2 - x1) * (y2 - y1);
    return shared > 0 ? shared / (area2(a) + area2(b) - shared) : 0;
  }
  function pairBoxes(first, second, least) {
    const near = first.flatMap(
      (a) => second.filter((b) => b.name === a.name).map((b) => ({ a, b, overlap: overlapOf(a, b) })).filter(({ overlap: overlap2 }) => overlap2 >= least)
    );
    near.sort((one, other) => other.overlap - one.overlap);
    const pairs = /* @__PURE__ */ new Map();
    const taken = /* @__PURE__ */ new Set();
    for (const { a, b } of near) {
      if (pairs.has(a) || taken.has(b)) continue;
      pairs.set(a, b);
      taken.add(b);
    }
    return pairs;
  }

  // page/src/compare.js
  var AGREEMENT = 0.5;
  var info = null;
  var times = { first: new FrameTimes(), second: new FrameTimes() };
  var detector2 = new Detector({
    onProgress: () => {
    },
    onLost: (reason) => end(`the graphics device is gone (${reason})`),
    onSlow: () => {
    }
  });
  function end(why) {
    info = null;
    detector2.cancel();
    showCard(why);
  }
  async function load(file) {
    const { name, read: read2 } = ownModel(file);
    say(`Loading ${name} to compare with…`);
    byId("compare-end").hidden = false;
    try {
      await alone(async () => {
        const backend = demo.info?.backend ?? "wasm";
        const { bytes, facts } = await read2(backend);
        const sample = await comparedPicture(backend);
        const found = await detector2.load({ model: bytes, facts, backend, sample });
        info = { ...found, modelName: name };
      });
    } catch (error) {
      const { code, message } = (
        /** @type {Error & {code?: string}} */
        error
      );
      if (!detector2.loaded) info = null;
      if (code === "cancelled") say(`Stopped loading ${name}.`);
      else showCard(`file ${name}: ${message}`);
      return;
    }
    for (const one of Object.values(times)) one.clear();
    showCard("");
  }
  function enabledOfSecond(enabled, names) {
    if (enabled === null) return null;
    const off = (demo.info?.names ?? []).filter((_, classId) => !enabled.includes(classId));
    return names.flatMap((name, classId) => off.includes(name) ? [] : [classId]);
  }
  async function compare(bitmap, settings, firstDetections, firstTimes) {
    if (!info) return void 0;
    const { names, modelName } = info;
    const enabled = enabledOfSecond(settings.enabled, names);
    try {
      const result2 = await detector2.detect(await createImageBitmap(bitmap), { ...settings, enabled });
      result2.bitmap.close();
      const found = result2.detections.map((one) => ({ ...one, name: names[one.classId] }));
      times.first.push(firstTimes, performance.now());
      times.second.push(result2.times, performance.now());
      showNumbers2(firstDetections, found);
      return found;
    } catch (error) {
      const { code, message } = (
        /** @type {Error & {code?: string}} */
        error
      );
      if (code !== "cancelled") end(`model ${modelName}: ${message}`);
      return void 0;
    }
  }
  function showCard(note) {
    byId("compare-note").hidden = !note;
    setText(byId("compare-note"), note ? sentence(note) : "");
    byId("compare-end", "button").hidden = info === null;
    byId("compare-shown").hidden ||= info === null;
  }
  function showNumbers2(first, second) {
    const agree = pairBoxes(first, second, AGREEMENT).size;
    const what = `same class, overlap (IoU) at least ${AGREEMENT}`;
    setText(byId("compare-agree"), `Boxes that agree: ${agree} (${what}).`);
    byId("compare-shown").hidden = false;
    const rows = byId("compare-rows", "tbody").rows;
    [
      [demo.info?.modelName ?? "", first.length, times.first],
      [info?.modelName ?? "", second.length, times.second]
    ].forEach(([name, count, taken], row) => {
      const [title, boxes, ms] = rows[row].cells;
      setText(title, name);
      setText(boxes, String(count));
      setText(ms, decimal(taken.median("inference"), 1));
    });
  }
  function paint2(drawing2, { bitmap, second, mirrored }) {
    if (second) drawing2.drawBeside(bitmap, second, mirrored, Number(byId("divide").value) / 100);
  }
  function wireCompare(onChange) {
    addLayer({ paint: paint2 });
    byId("compare-file").addEventListener("change", async () => {
      const file = byId("compare-file").files?.[0];
      byId("compare-file").value = "";
      if (file) await load(file);
      onChange();
    });
    byId("compare-end").addEventListener("click", () => {
      end("");
      byId("compare-file").focus();
      onChange();
    });
    byId("divide").addEventListener("input", redraw);
  }

  // page/src/crossing.js
  var MARGIN = 0.01;
  function sideOf({ a, b }, { x, y }) {
    const [dx, dy] = [b.x - a.x, b.y - a.y];
    return (dx * (y - a.y) - dy * (x - a.x)) / (Math.hypot(dx, dy) || 1);
  }
  function passesBetween({ a, b }, from, to) {
    const way = { a: from, b: to };
    return sideOf(way, a) * sideOf(way, b) <= 0;
  }
  function directions({ a, b }) {
    const names = [
      ["→", "to the right"],
      ["↘", "down to the right"],
      ["↓", "down"],
      ["↙", "down to the left"],
      ["←", "to the left"],
      ["↖", "up to the left"],
      ["↑", "up"],
      ["↗", "up to the right"]
    ];
    const eighth = Math.round(Math.atan2(b.x - a.x, a.y - b.y) / (Math.PI / 4));
    const there = (eighth + 8) % 8;
    return [names[there], names[(there + 4) % 8]].map(([arrow, words]) => ({ arrow, words }));
  }
  var Gate = class {
    /** @type {WeakMap<object, Point>} */
    #last = /* @__PURE__ */ new WeakMap();
    /** @param {Line} line */
    constructor(line) {
      this.line = line;
    }
    /**
     * @param {object} thing
     * @param {Point} point Where it is now.
     * @returns {number} 1 if it has crossed the line to its right, -1 to its left, else 0.
     */
    pass(thing, point) {
      const side = sideOf(this.line, point);
      if (Math.abs(side) < MARGIN) return 0;
      const before = this.#last.get(thing);
      this.#last.set(thing, point);
      if (!before || sideOf(this.line, before) * side > 0) return 0;
      return passesBetween(this.line, before, point) ? Math.sign(side) : 0;
    }
  };

  // page/src/detection.js
  var waiting2 = null;
  async function process(frame, makeBitmap, isWanted) {
    const used = currentSettings();
    const result2 = await detect(await makeBitmap(), used);
    const names = demo.info?.names ?? [];
    const detections = result2.detections.map((found) => ({ ...found, name: names[found.classId] }));
    const second = await compare(result2.bitmap, used, detections, result2.times);
    if (!isWanted()) {
      result2.bitmap.close();
      return demo.last;
    }
    showDetections({ ...frame, bitmap: result2.bitmap, second }, detections, result2.times, used);
    return demo.last;
  }
  async function rerun() {
    waiting2 ??= alone(() => {
      waiting2 = null;
      return detectAgain();
    });
    try {
      return await waiting2;
    } catch (error) {
      const { code } = (
        /** @type {{code?: string}} */
        error
      );
      if (code === "device-lost" || code === "cancelled") return demo.last;
      throw error;
    }
  }
  async function detectAgain() {
    const picture = onStage();
    if (!picture || !demo.info || activity.running) return demo.last;
    const copy = () => createImageBitmap(picture.bitmap);
    const last = await process(picture, copy, () => picture === onStage());
    if (last) say(`Found ${summary(last.detections)}. ${picture.title}.`);
    settle();
    return last;
  }

  // page/src/loop.js
  var source = null;
  var freshFrame = false;
  var pumping = false;
  function openSource() {
    return source;
  }
  function useSource(next) {
    halt();
    source?.close();
    source = next;
    activity.paused = false;
  }
  var playingOnce = /* @__PURE__ */ new Set();
  function playOnce(who, wanted) {
    if (wanted) playingOnce.add(who);
    else playingOnce.delete(who);
    byId("feed", "video").loop = playingOnce.size === 0;
  }
  async function startLoop() {
    const present2 = source;
    if (!present2) return;
    Object.assign(activity, { running: true, paused: false });
    freshFrame = false;
    restartRate();
    settle();
    say(`Running: ${present2.title}`);
    const onFrame = () => {
      freshFrame = true;
      pump();
    };
    const onBroken = (error) => {
      if (present2 !== source) return;
      useSource(null);
      showFailure(error);
    };
    try {
      await present2.start(onFrame, onBroken);
    } catch (error) {
      if (present2 !== source || /** @type {Error} */
      error.name === "AbortError") return;
      halt();
      throw error;
    }
  }
  function halt() {
    activity.running = false;
    freshFrame = false;
    source?.pause();
  }
  function processLive(present2) {
    const { kind, title } = present2;
    const mirrored = kind === "camera" && byId("mirror").checked;
    return alone(
      () => process(
        { title, mirrored, live: kind },
        () => present2.grab(),
        () => present2 === source
      )
    );
  }
  async function pump() {
    if (pumping) return;
    pumping = true;
    while (source && freshFrame && activity.running && demo.ready) {
      freshFrame = false;
      const present2 = source;
      try {
        await processLive(present2);
      } catch (error) {
        const { code } = (
          /** @type {{code?: string}} */
          error
        );
        if (present2 !== source || !activity.running) continue;
        if (code === "device-lost" || code === "cancelled") continue;
        halt();
        showFailure(error);
      }
    }
    pumping = false;
  }
  async function stepOnce() {
    const present2 = source;
    if (!present2) return;
    halt();
    activity.paused = true;
    settle();
    await present2.step();
    if (present2 !== source || activity.running) return;
    const last = await processLive(present2);
    if (last) say(`Found ${summary(last.detections)}. One frame of ${present2.title}.`);
    settle();
  }

  // page/src/tracking.js
  var LEAST_OVERLAP = 0.3;
  var SURE_AFTER = 3;
  var LOST_AFTER = 30;
  function expected(track) {
    const { name, box, speedX, speedY, missed } = track;
    const [right, down] = [speedX * (missed + 1), speedY * (missed + 1)];
    const { x1, y1, x2, y2 } = box;
    return { name, track, x1: x1 + right, y1: y1 + down, x2: x2 + right, y2: y2 + down };
  }
  function moveTo(track, box) {
    const frames2 = track.missed + 1;
    const centre = (one) => [(one.x1 + one.x2) / 2, (one.y1 + one.y2) / 2];
    const [[oldX, oldY], [x, y]] = [centre(track.box), centre(box)];
    const share = track.hits === 1 ? 1 : 0.5;
    track.speedX += share * ((x - oldX) / frames2 - track.speedX);
    track.speedY += share * ((y - oldY) / frames2 - track.speedY);
    Object.assign(track, { box, hits: track.hits + 1, missed: 0 });
  }
  var Tracker = class {
    /** @type {Track[]} */
    #tracks = [];
    /** How many of each class have got a number. @type {Map<string, number>} */
    seen = /* @__PURE__ */ new Map();
    /**
     * Take the detections of the next frame.
     * @param {NamedDetection[]} detections
     * @returns {Track[]} The things found in it, in the order of the detections.
     */
    update(detections) {
      const pairs = pairBoxes(this.#tracks.map(expected), detections, LEAST_OVERLAP);
      const known = new Map([...pairs].map(([{ track }, box]) => [box, track]));
      const found = detections.map((box) => this.#follow(known.get(box), box));
      for (const track of this.#tracks) if (!found.includes(track)) track.missed += 1;
      this.#tracks = this.#tracks.filter(
        ({ missed, number: number2 }) => missed === 0 || number2 > 0 && missed < LOST_AFTER
      );
      return found;
    }
    /** @param {Track|undefined} known @param {NamedDetection} box @returns {Track} */
    #follow(known, box) {
      const { name } = box;
      const track = known ?? { name, box, speedX: 0, speedY: 0, hits: 1, missed: 0, number: 0 };
      if (known) moveTo(known, box);
      else this.#tracks.push(track);
      if (track.hits === SURE_AFTER) {
        track.number = (this.seen.get(name) ?? 0) + 1;
        this.seen.set(name, track.number);
      }
      return track;
    }
  };

  // page/src/counting.js
  var KEY_STEP = 0.02;
  var tracker = new Tracker();
  var gate = new Gate({ a: { x: 0.1, y: 0.5 }, b: { x: 0.9, y: 0.5 } });
  var counts = /* @__PURE__ */ new Map();
  var counted = "";
  var ended = false;
  var isOn = () => byId("count-on").checked;
  var hasLine = () => isOn() && byId("line-on").checked;
  function startAnew() {
    tracker = new Tracker();
    gate = new Gate(gate.line);
    counts.clear();
    ended = false;
  }
  function shownCentre({ x1, y1, x2, y2 }, { bitmap, mirrored }) {
    const x = (x1 + x2) / 2 / bitmap.width;
    return { x: mirrored ? 1 - x : x, y: (y1 + y2) / 2 / bitmap.height };
  }
  function countOf(name) {
    const count = counts.get(name) ?? { now: 0, right: 0, left: 0 };
    counts.set(name, count);
    return count;
  }
  function see(frame, detections) {
    if (!isOn()) return;
    const source2 = `${frame.live} ${frame.mirrored} ${frame.title} ${demo.info?.modelName}`;
    if (!frame.live || source2 !== counted) startAnew();
    counted = source2;
    for (const count of counts.values()) count.now = 0;
    for (const { name } of detections) countOf(name).now += 1;
    if (frame.live) follow(frame, detections);
    showCounts();
  }
  function follow(frame, detections) {
    for (const track of tracker.update(detections)) {
      if (track.number) track.box.number = track.number;
      const crossed = hasLine() ? gate.pass(track, shownCentre(track.box, frame)) : 0;
      if (crossed > 0) countOf(track.name).right += 1;
      if (crossed < 0) countOf(track.name).left += 1;
    }
  }
  function countsToSave() {
    if (!isOn()) return void 0;
    const [right, left] = directions(gate.line).map(({ words }) => words);
    return [...counts].map(([name, count]) => ({
      class: name,
      now: count.now,
      seen: tracker.seen.get(name) ?? 0,
      ...hasLine() ? { crossed: { [right]: count.right, [left]: count.left } } : {}
    }));
  }
  function makeRow() {
    const row = document.createElement("tr");
    const name = document.createElement("th");
    name.scope = "row";
    name.dir = "auto";
    row.append(name, ...Array.from({ length: 4 }, () => document.createElement("td")));
    return row;
  }
  function showCounts() {
    const body = byId("counts", "tbody");
    while (body.rows.length < counts.size) body.append(makeRow());
    while (body.rows.length > counts.size) body.rows[counts.size].remove();
    [...counts].forEach(([name, { now, right, left }], index) => {
      const texts = [name, now, tracker.seen.get(name) ?? 0, right, left];
      texts.forEach((text, column) => {
        setText(body.rows[index].cells[column], String(text));
      });
    });
    byId("counts-empty").hidden = counts.size > 0;
  }
  function showDirections() {
    const { rows } = byId("counts-head", "thead");
    directions(gate.line).forEach(({ arrow, words }, index) => {
      const cell = rows[0].cells[3 + index];
      setText(cell.children[0], arrow);
      setText(cell.children[1], `crossed the line ${words}`);
    });
  }
  function pictureOnStage() {
    const canvas2 = byId("stage", "canvas");
    const scale = Math.min(canvas2.clientWidth / canvas2.width, canvas2.clientHeight / canvas2.height);
    const [width, height] = [canvas2.width * scale, canvas2.height * scale];
    const [left, top] = [(canvas2.clientWidth - width) / 2, (canvas2.clientHeight - height) / 2];
    return { left, top, width, height };
  }
  function showEnds() {
    const { left, top, width, height } = pictureOnStage();
    for (const end2 of ["a", "b"]) {
      const { x, y } = gate.line[end2];
      const button = byId(`line-${end2}`, "button");
      button.hidden = !hasLine();
      button.style.left = `${left + x * width}px`;
      button.style.top = `${top + y * height}px`;
      const place = `${Math.round(100 * x)} % from the left, ${Math.round(100 * y)} % from the top`;
      button.setAttribute(
        "aria-label",
        `${end2 === "a" ? "First" : "Second"} end of the line: ${place}`
      );
    }
  }
  function paint3({ context, unit }) {
    showEnds();
    if (!hasLine()) return;
    const { width, height } = context.canvas;
    const { a, b } = gate.line;
    const draw = (colour, lineWidth) => {
      Object.assign(context, { strokeStyle: colour, lineWidth: lineWidth * unit, lineCap: "round" });
      context.beginPath();
      context.moveTo(a.x * width, a.y * height);
      context.lineTo(b.x * width, b.y * height);
      context.stroke();
    };
    draw("#101317", 6);
    draw("#ffe14d", 3);
  }
  function moveEnd(end2, { x, y }) {
    const inside = (share) => Math.min(Math.max(share, 0), 1);
    gate = new Gate({ ...gate.line, [end2]: { x: inside(x), y: inside(y) } });
    showDirections();
    redraw();
    showEnds();
  }
  function wireEnd(end2) {
    const button = byId(`line-${end2}`, "button");
    button.addEventListener("pointerdown", ({ pointerId }) => button.setPointerCapture(pointerId));
    button.addEventListener("pointermove", ({ pointerId, clientX, clientY }) => {
      if (!button.hasPointerCapture(pointerId)) return;
      const stage = byId("stage", "canvas").getBoundingClientRect();
      const { left, top, width, height } = pictureOnStage();
      const x = (clientX - stage.left - left) / width;
      const y = (clientY - stage.top - top) / height;
      moveEnd(end2, { x, y });
    });
    button.addEventListener("keydown", (event) => {
      const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
      const way = ways[event.key];
      if (!way) return;
      event.preventDefault();
      const step2 = event.shiftKey ? KEY_STEP / 4 : KEY_STEP;
      const { x, y } = gate.line[end2];
      moveEnd(end2, { x: x + step2 * way[0], y: y + step2 * way[1] });
    });
  }
  var countingSettings = () => ({ on: isOn(), line: hasLine() ? gate.line : null });
  function setCounting(on, line) {
    byId("count-on").checked = on;
    byId("line-on").checked = line !== null;
    if (line) gate = new Gate(line);
    byId("count-card", "details").open ||= on;
    applyChoice();
  }
  function applyChoice() {
    byId("line-on").disabled = !isOn();
    byId("line-hint").hidden = !hasLine();
    byId("counts-table", "table").classList.toggle("with-line", hasLine());
    playOnce("counting", isOn());
    if (!isOn()) startAnew();
    showCounts();
    showDirections();
    redraw();
    showEnds();
  }
  function wireCounting(onChange) {
    addLayer({ see, paint: paint3 });
    for (const id of ["count-on", "line-on"]) {
      byId(id).addEventListener("change", () => {
        applyChoice();
        onChange();
      });
    }
    byId("count-reset").addEventListener("click", () => {
      startAnew();
      showCounts();
    });
    byId("feed").addEventListener("ended", () => {
      ended = true;
    });
    byId("feed").addEventListener("play", () => ended && startAnew());
    wireEnd("a");
    wireEnd("b");
    applyChoice();
  }

  // page/src/licences.js
  async function showLicences() {
    const shown2 = byId("licences");
    shown2.value = new TextDecoder().decode(await assetBytes("licences"));
    shown2.hidden = false;
    byId("licences-open").hidden = true;
    shown2.focus();
  }

  // page/src/address.js
  var LONGEST = 60;
  var number = (text, least, most) => {
    const value = text.trim() === "" ? Number.NaN : Number(text);
    return value >= least && value <= most ? value : void 0;
  };
  function readLine(text) {
    const shares = text.split(",").map((share) => number(share, 0, 1));
    if (shares.length !== 4 || shares.includes(void 0)) return void 0;
    const [ax, ay, bx, by] = (
      /** @type {number[]} */
      shares
    );
    return { a: { x: ax, y: ay }, b: { x: bx, y: by } };
  }
  var writeLine = ({ a, b }) => [a.x, a.y, b.x, b.y].map((share) => share.toFixed(3)).join(",");
  var READERS = {
    confidence: { read: (text) => number(text, 0.01, 0.99), needed: "a number from 0.01 to 0.99" },
    iou: { read: (text) => number(text, 0.01, 0.99), needed: "a number from 0.01 to 0.99" },
    backend: {
      read: (text) => ["auto", "webgpu", "wasm"].find((name) => name === text),
      needed: "auto, webgpu or wasm"
    },
    threads: {
      read: (text) => /^[1-9]\d?$/.test(text) ? Number(text) : void 0,
      needed: "a whole number from 1 to 99"
    },
    count: {
      read: (text) => ["0", "1"].includes(text) ? text === "1" : void 0,
      needed: "0 or 1"
    },
    line: { read: readLine, needed: "four numbers from 0 to 1" }
  };
  function readSettings(address, names) {
    const settings = {};
    const bad = [];
    for (const key of new Set(address.keys())) {
      if (key === "off") continue;
      const text = address.get(key) ?? "";
      const value = Object.hasOwn(READERS, key) ? READERS[key].read(text) : void 0;
      const why = Object.hasOwn(READERS, key) ? `needed: ${READERS[key].needed}` : "no such setting";
      if (value === void 0) bad.push(`${key}=${text}`.slice(0, LONGEST).concat(` (${why})`));
      else settings[key] = value;
    }
    const off = address.getAll("off");
    if (off.length) settings.off = off.filter((name) => names.includes(name));
    for (const name of off) {
      if (!names.includes(name))
        bad.push(`off=${name.slice(0, LONGEST)} (the model has no such class)`);
    }
    return { settings, bad };
  }
  function writeSettings({ off = [], count, line, ...simple }) {
    const address = new URLSearchParams();
    for (const [key, value] of Object.entries(simple)) {
      if (value !== void 0) address.set(key, String(value));
    }
    if (count) address.set("count", "1");
    if (line) address.set("line", writeLine(line));
    for (const name of off) address.append("off", name);
    return String(address);
  }

  // page/src/loading.js
  var loads = Promise.resolve();
  var waiting3 = 0;
  var present = null;
  var losses = 0;
  var DETECTION_PATIENCE_MS = 1500;
  function inTurn(load2) {
    const result2 = loads.then(load2);
    loads = result2.catch(() => {
    });
    return result2;
  }
  function loadModel(wanted, backend = byId("backend").value) {
    if (present && model.current) cancelLoading();
    waiting3 += 1;
    return inTurn(() => {
      waiting3 -= 1;
      return loadNow(wanted, backend);
    });
  }
  function cancelLoading() {
    if (!present) return;
    say(`Stopped loading ${present.wanted.name}.`);
    present.end.abort();
    cancelWork();
  }
  var hasWork = () => isSlow() || present !== null && !activity.booting;
  function endWork() {
    if (!hasWork()) return false;
    if (present) {
      cancelLoading();
      return true;
    }
    cancelWork();
    forgetDetections();
    settleReady();
    showScreen("stopped");
    return true;
  }
  async function loadNow(wanted, backend) {
    const wasRunning = activity.running;
    const end2 = new AbortController();
    const job = { wanted, end: end2, ending: end2.signal, isLast: () => waiting3 === 0 };
    present = job;
    const timer = setTimeout(cancelWork, DETECTION_PATIENCE_MS);
    halt();
    demo.ready = false;
    byId("loading").hidden = false;
    hideScreen();
    say(`Loading ${wanted.name}…`);
    try {
      await alone(() => {
        clearTimeout(timer);
        return loadOrKeep(wanted, backend, job);
      });
      present = null;
      byId("loading").hidden = true;
      await afterLoad(wasRunning);
      attempt(preferFaster);
    } catch (error) {
      if (!job.ending.aborted) throw error;
      if (!demo.info && job.isLast()) showScreen("stopped");
      else say(`Stopped loading ${wanted.name}.`);
    } finally {
      present = null;
      byId("loading").hidden = true;
      settleReady();
    }
  }
  async function afterLoad(wasRunning) {
    if (!wasRunning || !openSource()) {
      await rerun();
      return;
    }
    settleReady();
    await startLoop();
  }
  var presentModel = () => present?.wanted ?? model.current ?? builtinModel();
  var loadBuiltin = () => loadModel(builtinModel());
  var loadFile = (file, name) => loadModel(ownModel(file, name));
  async function chooseBackend(backend) {
    losses = 0;
    byId("backend").value = backend;
    await loadModel(presentModel(), backend);
  }
  function recover(reason) {
    const wasRunning = activity.running;
    halt();
    demo.ready = false;
    losses += 1;
    const backend = losses === 1 ? demo.info?.requested ?? "auto" : "wasm";
    showScreen("device-lost", { detail: `The browser's reason: ${reason}` });
    attempt(() => inTurn(() => reloadAfterLoss(backend, reason, wasRunning)));
  }
  async function reloadAfterLoss(backend, reason, wasRunning) {
    await alone(() => loadOrWasm(presentModel(), backend));
    hideScreen();
    const now = demo.info?.backend === "webgpu" ? "WebGPU again" : "WebAssembly";
    const text = `the GPU was lost (${reason}); the model now runs on ${now}`;
    showNote([text, demo.info?.note ?? ""].filter(Boolean).map(sentence).join(" "));
    await afterLoad(wasRunning);
    settleReady();
    say(sentence(text));
    attempt(preferFaster);
  }
  model.onLost = recover;

  // page/src/link.js
  function presentLink() {
    const { confidence, iou, enabled } = currentSettings();
    const { on, line } = countingSettings();
    const names = demo.info?.names ?? [];
    const threads = givenAddress().get("threads");
    const settings = writeSettings({
      confidence,
      iou,
      backend: byId("backend").value,
      threads: threads ? Number.parseInt(threads, 10) || void 0 : void 0,
      count: on,
      line: line ?? void 0,
      off: enabled ? names.filter((_, classId) => !enabled.includes(classId)) : []
    });
    return `${location.href.replace(/[?#].*/s, "")}#${settings}`;
  }
  async function copyLink() {
    const field2 = byId("link-text");
    field2.hidden = false;
    field2.value = presentLink();
    field2.select();
    try {
      await navigator.clipboard.writeText(field2.value);
      say("Copied the link.");
    } catch {
      say("The browser lets the page copy nothing: copy the link out of its field.");
    }
  }
  async function applyLink() {
    const { settings, bad } = readSettings(givenAddress(), demo.info?.names ?? []);
    const { count, line, off, backend, threads } = settings;
    const present2 = demo.info?.threads;
    if (threads && threads !== present2) {
      bad.push(`threads=${threads} (it has ${present2}; more need the headers that serve_demo sends)`);
    }
    setThresholds({ ...currentSettings(), ...settings });
    if (off) setClassesOff(off);
    if (count !== void 0 || line) setCounting(count ?? true, line ?? null);
    byId("link-note").hidden = bad.length === 0;
    setText(byId("link-note"), `Left out of the link's settings: ${bad.map(isolate).join("; ")}.`);
    if (backend && backend !== byId("backend").value) await chooseBackend(backend);
    else if (Object.keys(settings).length) await rerun();
  }
  function wireLink() {
    byId("link-copy").addEventListener("click", () => attempt(copyLink));
    window.addEventListener("hashchange", () => demo.info && attempt(applyLink));
  }

  // page/src/webm.js
  var FILE = 440786851;
  var OPENED = /* @__PURE__ */ new Set([408125543, 524531317]);
  var PARTS = /* @__PURE__ */ new Set([
    FILE,
    290298740,
    // SeekHead, and the other parts of a Segment
    357149030,
    374648427,
    475249515,
    272869232,
    307544935,
    423732329,
    231,
    // Timestamp, and the other parts of a Cluster
    163,
    160,
    167,
    171,
    175,
    22612,
    236,
    // Void and CRC-32, which may be anywhere
    191
  ]);
  var READ_BYTES = 65536;
  var HEAD_BYTES = 12;
  function readNumber(bytes, marked) {
    const length = Math.clz32(bytes[0]) - 23;
    const first = marked ? bytes[0] : bytes[0] & 255 >> length;
    const ones = 2 ** (7 * length) - 1;
    const value = bytes.subarray(1, length).reduce((sum, byte) => 256 * sum + byte, first);
    return [!marked && value === ones ? Number.POSITIVE_INFINITY : value, length];
  }
  async function isWhole(film) {
    let [from, bytes] = [0, new Uint8Array()];
    for (let at = 0; at < film.size; ) {
      if (at < from || at + HEAD_BYTES > from + bytes.length) {
        from = at;
        bytes = new Uint8Array(await film.slice(at, at + READ_BYTES).arrayBuffer());
      }
      const head = bytes.subarray(at - from, at - from + HEAD_BYTES);
      const [part, idBytes] = readNumber(head, true);
      if (at === 0 && part !== FILE) return true;
      if (idBytes > 4 || !(PARTS.has(part) || OPENED.has(part))) return false;
      const [length, lengthBytes] = readNumber(head.subarray(idBytes), false);
      at += idBytes + lengthBytes + (OPENED.has(part) ? 0 : length);
    }
    return true;
  }

  // page/src/sources.js
  var CAMERA_WISH = {
    width: { ideal: 640 },
    height: { ideal: 480 },
    frameRate: { ideal: 30 }
  };
  var REFUSED = ["camera-refused", "The browser did not allow the camera."];
  var IN_USE = ["no-camera", "The camera is there, but another program uses it."];
  var SENDS_NOTHING = "The camera is there, but sends no pictures. It may be switched off or covered by a slide, or another program may hold it.";
  var ABSENT = ["no-camera", "No camera is connected to this device."];
  var CAMERA_FAILURES = {
    NotAllowedError: REFUSED,
    SecurityError: REFUSED,
    NotReadableError: IN_USE,
    AbortError: IN_USE,
    NotFoundError: ABSENT,
    OverconstrainedError: ABSENT
  };
  var DEFAULT_FRAME_SECONDS = 1 / 30;
  var FRAME_PATIENCE_MS = 2e3;
  var STALLED_MS = 5e3;
  var OPENING_MS = 1e4;
  var MISSING_SECONDS = 1;
  var MAX_KEPT = 24e6;
  var MAX_DECODED = 178956970;
  var LONGEST2 = 16384;
  function keptSize(width, height) {
    const ratio = Math.min(
      Math.sqrt(MAX_KEPT / (width * height)),
      LONGEST2 / width,
      LONGEST2 / height,
      1
    );
    const side = (length) => Math.max(Math.floor(length * ratio), 1);
    return { width: side(width), height: side(height) };
  }
  async function measure(blob) {
    const image = new Image();
    image.src = URL.createObjectURL(blob);
    try {
      await new Promise((resolve, reject) => {
        image.onload = resolve;
        image.onerror = () => reject(new Error("it cannot be read"));
      });
      return { width: image.naturalWidth, height: image.naturalHeight };
    } finally {
      URL.revokeObjectURL(image.src);
    }
  }
  async function decodePicture(picture) {
    if (picture instanceof ImageBitmap) return { bitmap: await createImageBitmap(picture), note: "" };
    const name = picture.name ? `The file ${picture.name}` : "This";
    const options = (
      /** @type {ImageBitmapOptions} */
      { imageOrientation: "from-image" }
    );
    let note = "";
    try {
      const { width, height } = await measure(picture);
      if (width * height > MAX_DECODED) {
        const size = `${width} × ${height} pixels, more than ${Math.floor(MAX_DECODED / 1e6)} million`;
        throw failure("file-broken", `${name} has ${size}; make it smaller.`);
      }
      const kept = keptSize(width, height);
      if (kept.width < width) {
        const sides = { resizeWidth: kept.width, resizeHeight: kept.height };
        Object.assign(options, sides, { resizeQuality: "high" });
        note = `made smaller from ${width} × ${height}`;
      }
      return { bitmap: await createImageBitmap(picture, options), note };
    } catch (error) {
      if (
        /** @type {{code?: unknown}} */
        error.code === "file-broken"
      ) throw error;
      throw failure("file-broken", `${name} is no picture this browser can decode.`, error);
    }
  }
  function watchFrames(video, onFrame) {
    let handle = 0;
    const next = () => {
      handle = video.requestVideoFrameCallback(() => {
        next();
        onFrame();
      });
    };
    next();
    return () => video.cancelVideoFrameCallback(handle);
  }
  function watchProgress(video, progress, onStalled) {
    let [last, since] = [progress(), performance.now()];
    const timer = setInterval(() => {
      const now = progress();
      if (now !== last || video.paused || document.hidden) {
        [last, since] = [now, performance.now()];
      } else if (performance.now() - since > STALLED_MS) {
        clearInterval(timer);
        onStalled();
      }
    }, STALLED_MS / 10);
    return () => clearInterval(timer);
  }
  function videoEvent(video, name) {
    return new Promise((resolve, reject) => {
      const signal = AbortSignal.timeout(OPENING_MS);
      const failed = () => reject(new Error(video.error?.message || "the video has an error"));
      video.addEventListener(name, resolve, { once: true, signal });
      video.addEventListener("error", failed, { once: true, signal });
      signal.addEventListener("abort", () => reject(new Error(`no "${name}" from the video`)));
    });
  }
  function emptyVideo(video) {
    video.pause();
    video.srcObject = null;
    video.removeAttribute("src");
    video.load();
  }
  var LiveSource = class {
    /** @type {(() => void)|null} */
    #unwatch = null;
    constructor(video, kind, title) {
      this.video = video;
      this.kind = kind;
      this.title = title;
      this.mirroredByDefault = false;
    }
    /**
     * @param {() => void} onFrame Called whenever a newer frame can be grabbed.
     * @param {(error: Error) => void} onBroken Called when no more frames will come.
     */
    async start(onFrame, onBroken) {
      this.#unwatch?.();
      const { video } = this;
      let frames2 = 0;
      const stopFrames = watchFrames(video, () => {
        frames2 += 1;
        onFrame();
      });
      const fail = () => onBroken(this.describeFailure());
      video.addEventListener("error", fail);
      const progress = () => this.kind === "video" ? `${frames2} ${video.currentTime}` : frames2;
      const stopWatch = watchProgress(video, progress, fail);
      this.#unwatch = () => {
        stopFrames();
        stopWatch();
        video.removeEventListener("error", fail);
      };
      await video.play();
    }
    /** @returns {Error} Why no more frames come. */
    describeFailure() {
      return new Error(`${this.title} gives no more pictures`);
    }
    /** Stop the calls of `onFrame`; the source stays open. */
    pause() {
      this.#unwatch?.();
      this.#unwatch = null;
    }
    /** @returns {Promise<ImageBitmap>} The newest frame; the caller closes it. */
    grab() {
      return createImageBitmap(this.video);
    }
    /** Whether no source that was opened later has the page's video by now. */
    get hasVideo() {
      return false;
    }
    close() {
      this.pause();
      if (this.hasVideo) emptyVideo(this.video);
    }
  };
  var CameraSource = class _CameraSource extends LiveSource {
    constructor(video, stream) {
      const track = stream.getVideoTracks()[0];
      super(video, "camera", track.label || "camera");
      const settings = track.getSettings();
      this.stream = stream;
      this.deviceId = settings.deviceId || "";
      this.mirroredByDefault = looksAtTheUser(settings.facingMode, track.label);
      this.onEnded = null;
      track.addEventListener("ended", () => this.onEnded?.());
    }
    /**
     * Ask for permission and open a camera.
     * @param {HTMLVideoElement} video
     * @param {string} deviceId "" for the browser's choice.
     * @param {() => boolean} isWanted Whether nothing else was opened in the meantime.
     * @returns {Promise<CameraSource|null>} Null if it is not wanted any more; it is closed then.
     * @throws {Error} `.code` "camera-refused" or "no-camera".
     */
    static async open(video, deviceId, isWanted) {
      let camera = null;
      try {
        camera = new _CameraSource(video, await cameraStream(deviceId));
        if (isWanted()) await camera.#show();
      } catch (error) {
        camera?.close();
        if (isWanted()) throw error;
        return null;
      }
      if (isWanted()) return camera;
      camera.close();
      return null;
    }
    async #show() {
      const { video } = this;
      try {
        video.removeAttribute("src");
        video.srcObject = this.stream;
        await Promise.all([videoEvent(video, "loadeddata"), video.play()]);
      } catch (error) {
        throw failure("no-camera", SENDS_NOTHING, error);
      }
    }
    describeFailure() {
      return failure("no-camera", SENDS_NOTHING);
    }
    get hasVideo() {
      return this.video.srcObject === this.stream;
    }
    /** Wait for a new frame, or take the present one if none comes. */
    step() {
      return new Promise((resolve) => {
        let frames2 = 0;
        const finish = () => {
          unwatch();
          clearTimeout(timer);
          resolve(void 0);
        };
        const timer = setTimeout(finish, FRAME_PATIENCE_MS);
        const unwatch = watchFrames(this.video, () => {
          frames2 += 1;
          if (frames2 === 2) finish();
        });
      });
    }
    close() {
      this.onEnded = null;
      for (const track of this.stream.getTracks()) track.stop();
      super.close();
    }
  };
  var VideoSource = class _VideoSource extends LiveSource {
    /** @type {AbortController|null} */
    #listening = null;
    /** @type {Promise<boolean>|null} */
    #whole = null;
    /** @param {HTMLVideoElement} video @param {File} file @param {string} url Of the file. */
    constructor(video, file, url) {
      super(video, "video", file.name || "video");
      this.file = file;
      this.url = url;
    }
    /**
     * @param {HTMLVideoElement} video
     * @param {File} file
     * @returns {Promise<VideoSource>} Paused on its first frame.
     * @throws {Error} `.code` "file-broken".
     */
    static async open(video, file) {
      const url = URL.createObjectURL(file);
      try {
        const loaded = videoEvent(video, "loadeddata");
        video.srcObject = null;
        video.src = url;
        await loaded;
        if (video.videoWidth === 0) throw failure("file-broken", "has sound and no pictures");
        return new _VideoSource(video, file, url);
      } catch (error) {
        if (video.src === url) emptyVideo(video);
        URL.revokeObjectURL(url);
        const name = file.name ? `The file ${file.name}` : "This";
        const { code, message } = (
          /** @type {Error & {code?: string}} */
          error
        );
        const why = code ? message : "is no video this browser can play";
        throw failure("file-broken", `${name} ${why}.`, error);
      }
    }
    describeFailure(seconds = this.video.currentTime) {
      const where = `from second ${seconds.toFixed(1)}`;
      const text = `The file ${this.title} cannot be played on ${where}: it is damaged there.`;
      return failure("file-broken", text);
    }
    /**
     * Play. Of a damaged film some browsers say nothing: it ends long before its time, or they take
     * the time for shorter.
     */
    async start(onFrame, onBroken) {
      const { video } = this;
      let [from, since] = [video.currentTime, performance.now()];
      const look = async () => {
        if (!video.ended && video.currentTime > 0) return;
        const end2 = from + (performance.now() - since) / 1e3;
        [from, since] = [0, performance.now()];
        const missing = video.duration - end2;
        const early = missing > MISSING_SECONDS && Number.isFinite(missing);
        this.#whole ??= isWhole(this.file);
        if (early || !await this.#whole) onBroken(this.describeFailure(end2));
      };
      this.#listening?.abort();
      this.#listening = new AbortController();
      for (const event of ["seeking", "ended"]) {
        video.addEventListener(event, look, { signal: this.#listening.signal });
      }
      await super.start(onFrame, onBroken);
    }
    get hasVideo() {
      return this.video.src === this.url;
    }
    pause() {
      super.pause();
      this.#listening?.abort();
      if (this.hasVideo) this.video.pause();
    }
    /** Go to the next frame; after the last one comes the first. */
    async step() {
      this.pause();
      const next = this.video.currentTime + DEFAULT_FRAME_SECONDS;
      const sought = videoEvent(this.video, "seeked");
      this.video.currentTime = next < this.video.duration ? next : 0;
      await sought.catch(() => {
        throw this.describeFailure();
      });
    }
    close() {
      super.close();
      URL.revokeObjectURL(this.url);
    }
  };
  function looksAtTheUser(facingMode, label2) {
    if (facingMode) return facingMode === "user";
    return !/back|rear|environment|capture|virtual/i.test(label2);
  }
  async function cameraStream(deviceId) {
    if (!navigator.mediaDevices?.getUserMedia) {
      throw failure(
        "no-camera",
        "The browser gives cameras only to pages from disk, from localhost or by https."
      );
    }
    const choice = deviceId ? { deviceId: { exact: deviceId } } : { facingMode: "user" };
    try {
      return await navigator.mediaDevices.getUserMedia({ video: { ...CAMERA_WISH, ...choice } });
    } catch (error) {
      const { name, message } = (
        /** @type {Error} */
        error
      );
      if (name === "OverconstrainedError" && deviceId) return cameraStream("");
      const [code, text] = CAMERA_FAILURES[name] ?? [
        "no-camera",
        `The camera did not open: ${message}`
      ];
      throw failure(code, text, error);
    }
  }
  async function listCameras() {
    if (!navigator.mediaDevices?.enumerateDevices) return [];
    const devices = await navigator.mediaDevices.enumerateDevices();
    return devices.filter((device) => device.kind === "videoinput" && device.deviceId).map((device, index) => ({
      deviceId: device.deviceId,
      label: device.label || `Camera ${index + 1}`
    }));
  }
  function fileKind(file) {
    if (/\.onnx$/i.test(file.name || "")) return "model";
    if (file.type.startsWith("image/")) return "picture";
    if (file.type.startsWith("video/")) return "video";
    return "";
  }
  function filesToOpen(files) {
    const first = (...kinds) => files.find((file) => kinds.includes(fileKind(file))) ?? [];
    const chosen2 = [first("model"), first("picture", "video")].flat();
    return chosen2.length ? chosen2 : files.slice(0, 1);
  }

  // page/src/live.js
  var opening = 0;
  var openingCamera = 0;
  var cameraId = "";
  var mirrorChoices = /* @__PURE__ */ new Map();
  function beginOpening() {
    opening += 1;
    const ticket = opening;
    for (const button of byId("samples").children) button.setAttribute("aria-pressed", "false");
    return () => ticket === opening;
  }
  async function openCamera() {
    const isWanted = beginOpening();
    useSource(null);
    hideScreen();
    say("Opening the camera…");
    const wanted = byId("camera-select").value || memory.get("sessionStorage", "camera");
    openingCamera = opening;
    const camera = await CameraSource.open(byId("feed", "video"), wanted, isWanted);
    if (camera === null) return false;
    openingCamera = 0;
    useSource(camera);
    camera.onEnded = () => {
      useSource(null);
      const happened = "The camera was unplugged or taken by the system.";
      showScreen("no-camera", { happened });
    };
    memory.set("sessionStorage", "camera", camera.deviceId);
    cameraId = camera.deviceId;
    const choice = mirrorChoices.get(cameraId) ?? mirrorChoices.get("");
    byId("mirror").checked = choice ?? camera.mirroredByDefault;
    await fillCameras(camera.deviceId);
    return isWanted();
  }
  async function fillCameras(deviceId) {
    const cameras = await listCameras();
    if (cameras.length === 0) return;
    const select = byId("camera-select", "select");
    select.replaceChildren(...cameras.map(({ deviceId: id, label: label2 }) => new Option(label2, id)));
    if (cameras.some((camera) => camera.deviceId === deviceId)) select.value = deviceId;
  }
  async function startCamera() {
    if (await openCamera()) await startLoop();
  }
  async function changeCamera(deviceId) {
    memory.set("sessionStorage", "camera", deviceId);
    if (openSource()?.kind === "camera") await startCamera();
  }
  async function changeMirror(mirrored) {
    mirrorChoices.set(cameraId, mirrored);
    const shown2 = onStage();
    if (shown2?.live !== "camera" || activity.running) return;
    shown2.mirrored = mirrored;
    await rerun();
  }
  async function startVideo(file) {
    const isWanted = beginOpening();
    useSource(null);
    hideScreen();
    const video = await VideoSource.open(byId("feed", "video"), file);
    if (!isWanted()) {
      video.close();
      return;
    }
    useSource(video);
    await startLoop();
  }
  async function start() {
    if (!demo.ready || activity.running) return;
    if (openSource()) {
      hideScreen();
      await startLoop();
    } else {
      await startCamera();
    }
  }
  function stop() {
    const kind = openSource()?.kind;
    opening += 1;
    if (!activity.running && endWork()) return;
    if (!kind) return;
    if (kind === "camera") useSource(null);
    else halt();
    activity.paused = true;
    settle();
    say(kind === "camera" ? "Stopped; the camera is off." : "Stopped.");
    showNumbers();
  }
  function watchEnd() {
    byId("feed").addEventListener("ended", () => openSource()?.kind === "video" && stop());
  }
  function watchVisibility() {
    let goOn = () => Promise.resolve();
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden) {
        attempt(goOn);
        goOn = () => Promise.resolve();
      } else if (openingCamera === opening || openSource()?.kind === "camera") {
        if (activity.running || openingCamera === opening) goOn = startCamera;
        opening += 1;
        useSource(null);
        activity.paused = true;
        settle();
        say("The camera is off while this page is not seen.");
      } else if (activity.running) {
        const video = openSource();
        goOn = async () => video === openSource() ? startLoop() : void 0;
        halt();
        settle();
      }
    });
  }
  async function step() {
    if (!demo.ready) return;
    const shown2 = onStage();
    if (!openSource() && (!shown2 || shown2.live)) {
      if (!await openCamera()) return;
    }
    await (openSource() ? stepOnce() : rerun());
  }

  // page/src/pictures.js
  var images = Promise.resolve();
  var samples = [];
  async function showPicture(picture, title) {
    const isWanted = beginOpening();
    const { bitmap, note } = await decodePicture(picture);
    if (!isWanted()) {
      bitmap.close();
      return demo.last;
    }
    useSource(null);
    if (demo.info) hideScreen();
    putOnStage(bitmap, note ? `${title}, ${note}` : title);
    settle();
    if (demo.info) say(`Detecting in ${title}…`);
    return rerun();
  }
  function detectImage(picture) {
    const result2 = images.then(async () => {
      const given = typeof picture === "string" ? await (await fetch(picture)).blob() : picture;
      return showPicture(given, "Picture");
    });
    images = result2.catch(() => {
    });
    return result2;
  }
  async function fillSamples() {
    const entries = hasAsset("samples") ? await assetJson("samples") : [];
    byId("samples").hidden = entries.length === 0;
    byId("samples-title").hidden = entries.length === 0;
    samples = await Promise.all(
      entries.map(async ({ asset, title, type }) => {
        return { title, blob: new Blob([await assetBytes(asset)], { type }) };
      })
    );
    byId("samples").append(...samples.map(({ title, blob }, k) => sampleButton(title, blob, k + 1)));
  }
  function sampleButton(title, blob, number2) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sample";
    button.dataset.sample = String(number2);
    button.title = title;
    button.setAttribute("aria-pressed", "false");
    const image = new Image(96, 68);
    image.alt = `Sample: ${title}`;
    image.src = URL.createObjectURL(blob);
    button.append(image);
    button.addEventListener("click", () => attempt(() => showSample(number2)));
    return button;
  }
  async function showSample(number2) {
    const sample = samples[number2 - 1];
    if (!sample) return;
    const result2 = showPicture(sample.blob, `Sample: ${sample.title}`);
    byId("samples").children[number2 - 1].setAttribute("aria-pressed", "true");
    await result2;
  }
  async function previewSample() {
    if (!onStage()) await showSample(1);
  }

  // page/src/saving.js
  function download(blob, ending, kind = "detections") {
    const link = document.createElement("a");
    const time = (/* @__PURE__ */ new Date()).toISOString().slice(0, 19).replaceAll(":", "-");
    link.href = URL.createObjectURL(blob);
    link.download = `${kind}-${time}.${ending}`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1e4);
  }
  async function saveSnapshot() {
    if (!onStage()) return;
    download(await snapshot(), "png");
    say("Saved a snapshot.");
  }
  function saveJson() {
    const { last } = demo;
    if (!isSeen()) return;
    const { confidence, iou, enabled } = last.settings;
    const content = {
      created: (/* @__PURE__ */ new Date()).toISOString(),
      picture: { title: last.title, width: last.width, height: last.height },
      shownMirrored: last.mirrored,
      model: modelFacts(),
      thresholds: { confidence, iou },
      classes: enabled ?? "all",
      milliseconds: last.times,
      counts: countsToSave(),
      detections: last.detections
    };
    const text = `${JSON.stringify(content, null, 2)}
`;
    download(new Blob([text], { type: "application/json" }), "json");
    say("Saved the detections.");
  }

  // page/src/recording.js
  var TYPES = ["video/mp4;codecs=avc1.42E01F", "video/webm;codecs=vp9", "video/webm;codecs=vp8"];
  var MAX_MB = 500;
  var PART_MS = 500;
  var canvas = byId("stage", "canvas");
  var endPresent = (_why) => {
  };
  var recording = false;
  function recordedType() {
    const able = "MediaRecorder" in window && "captureStream" in canvas;
    return able ? TYPES.find((type) => MediaRecorder.isTypeSupported(type)) : void 0;
  }
  function toggleRecording() {
    if (recording) endPresent("");
    else if (onStage() && recordedType()) begin();
  }
  function begin() {
    const recorder = new MediaRecorder(canvas.captureStream(), { mimeType: recordedType() });
    const begun = performance.now();
    const parts = [];
    let megabytes = 0;
    let reason = "";
    endPresent = (why) => {
      reason ||= why;
      if (recorder.state === "recording") recorder.stop();
    };
    recorder.ondataavailable = ({ data }) => {
      parts.push(data);
      megabytes += data.size / 1e6;
      showTime((performance.now() - begun) / 1e3, megabytes);
      if (megabytes > MAX_MB) endPresent("more is not kept in memory");
    };
    recorder.onerror = () => endPresent("the browser's recorder failed");
    recorder.onstop = () => {
      showRecording(false);
      save(new Blob(parts, { type: recorder.mimeType }), reason);
    };
    recorder.start(PART_MS);
    showTime(0, 0);
    showRecording(true);
    redraw();
    say("Recording.");
  }
  function save(blob, reason) {
    const why = reason ? ` ${sentence(reason)}` : "";
    if (blob.size) download(blob, blob.type.startsWith("video/mp4") ? "mp4" : "webm");
    say(blob.size ? `Saved the recording.${why}` : `Nothing was recorded.${why}`);
  }
  function showTime(seconds, megabytes) {
    const rest = String(Math.floor(seconds % 60)).padStart(2, "0");
    const time = `${Math.floor(seconds / 60)}:${rest}`;
    setText(byId("record-badge"), `${time}, ${megabytes.toFixed(1)} of ${MAX_MB} MB`);
  }
  function showRecording(on) {
    recording = on;
    byId("record-badge").hidden = !on;
    setText(byId("record-text"), on ? "Save video" : "Record");
    playOnce("recording", on);
  }
  function wireRecording() {
    byId("record", "button").hidden = !recordedType();
    let size = "";
    addLayer({
      paint() {
        const now = `${canvas.width} × ${canvas.height}`;
        if (recording && now !== size) endPresent("the stage has another size");
        size = now;
      }
    });
    byId("feed").addEventListener("ended", () => recording && endPresent("the video has ended"));
  }

  // page/src/boxes.js
  var LEAST_SIDE = 3;
  var CLICK_PX = 4;
  var REACH_PX = 8;
  var TOUCH_REACH_PX = 18;
  var FAST = 0.01;
  var NAME_ROOM = 0.1;
  var NOTHING = { boxes: [], bitmap: { width: 0, height: 0 } };
  var WHOLE = (
    /** @type {Edges} */
    { x: 0, y: 0 }
  );
  var LOWER_RIGHT = (
    /** @type {Edges} */
    { x: 1, y: 1 }
  );
  var ARROWS = {
    ArrowLeft: [-1, 0],
    ArrowRight: [1, 0],
    ArrowUp: [0, -1],
    ArrowDown: [0, 1]
  };
  var clamp = (value, low, high) => Math.min(Math.max(value, low), high);
  function boxBetween([ax, ay], [bx, by], { width, height }) {
    const [x1, x2] = [ax, bx].map((x) => clamp(x, 0, width)).sort((a, b) => a - b);
    const [y1, y2] = [ay, by].map((y) => clamp(y, 0, height)).sort((a, b) => a - b);
    return { x1, y1, x2, y2 };
  }
  function draggedSide(low, high, edge, by, limit) {
    const least = Math.min(LEAST_SIDE, limit);
    if (edge < 0) return [clamp(low + by, 0, Math.max(high - least, 0)), high];
    if (edge > 0) return [low, clamp(high + by, Math.min(low + least, limit), limit)];
    const shift = clamp(by, -low, limit - high);
    return [low + shift, high + shift];
  }
  function dragged(box, edges, dx, dy, size) {
    const whole = !edges.x && !edges.y;
    const by = { x: whole || edges.x ? dx : 0, y: whole || edges.y ? dy : 0 };
    const [x1, x2] = draggedSide(box.x1, box.x2, edges.x, by.x, size.width);
    const [y1, y2] = draggedSide(box.y1, box.y2, edges.y, by.y, size.height);
    return { ...box, x1, y1, x2, y2 };
  }
  function endAt(place, low, high, reach) {
    if (place < low - reach || place > high + reach) return null;
    const inner = Math.min(reach, (high - low) / 4);
    if (place <= low + inner) return -1;
    return place >= high - inner ? 1 : 0;
  }
  function edgesAt(box, x, y, reach) {
    const [atX, atY] = [endAt(x, box.x1, box.x2, reach), endAt(y, box.y1, box.y2, reach)];
    return atX === null || atY === null ? null : { x: atX, y: atY };
  }
  var area = (box) => (box.x2 - box.x1) * (box.y2 - box.y1);
  function boxAt(boxes, x, y) {
    const around = boxes.filter((b) => b.x1 <= x && x <= b.x2 && b.y1 <= y && y <= b.y2);
    return around.sort((a, b) => area(a) - area(b))[0];
  }
  function overlap(a, b) {
    const width = Math.min(a.x2, b.x2) - Math.max(a.x1, b.x1);
    const height = Math.min(a.y2, b.y2) - Math.max(a.y1, b.y1);
    const both = Math.max(width, 0) * Math.max(height, 0);
    return both ? both / (area(a) + area(b) - both) : 0;
  }
  function cursorFor(edges) {
    if (!edges) return "crosshair";
    if (!edges.x && !edges.y) return "move";
    if (edges.x && edges.y) return edges.x === edges.y ? "nwse-resize" : "nesw-resize";
    return edges.x ? "ew-resize" : "ns-resize";
  }
  var BoxEditor = class {
    #surface;
    #canvas;
    #handlers;
    /** @type {{bitmap: ImageBitmap, boxes: Box[]}|null} */
    #frame = null;
    /** @type {Box|null} */
    #selected = null;
    /** @type {Map<Box, HTMLButtonElement>} */
    #buttons = /* @__PURE__ */ new Map();
    /** @type {{from: number[], edges: Edges|null, before: Box|null, drawn: Box|null}|null} */
    #drag = null;
    #disabled = false;
    /**
     * @param {HTMLElement} surface Holds a canvas; gets a button for each box.
     * @param {object} handlers
     * @param {() => void} handlers.onChange A box was made, moved or removed.
     * @param {() => void} handlers.onSelect Another box is selected, or none.
     * @param {(box: Box) => void} handlers.onDrawn A new box is there.
     * @param {() => string} handlers.newLabel Of a new box.
     * @param {(label: string) => string} handlers.colourOf
     */
    constructor(surface, handlers2) {
      this.#surface = surface;
      this.#canvas = /** @type {HTMLCanvasElement} */
      surface.querySelector("canvas");
      this.#handlers = handlers2;
      surface.addEventListener("pointerdown", (event) => this.#press(event));
      surface.addEventListener("pointermove", (event) => this.#move(event));
      surface.addEventListener("pointerup", (event) => this.#release(event));
      surface.addEventListener("pointercancel", () => this.#cancel());
      surface.addEventListener("keydown", (event) => this.#key(event));
    }
    get selected() {
      return this.#selected;
    }
    /** While it is on, nothing can be changed. */
    set disabled(on) {
      this.#disabled = on;
      this.draw();
    }
    /** @param {{bitmap: ImageBitmap, boxes: Box[]}|null} frame */
    show(frame) {
      this.#drag = null;
      this.#frame = frame;
      if (frame) {
        const { width, height } = frame.bitmap;
        Object.assign(this.#canvas, { width, height });
        this.#canvas.getContext("2d")?.drawImage(frame.bitmap, 0, 0);
        this.#surface.style.setProperty("--ratio", String(width / height));
      }
      this.select(null);
    }
    /** @param {Box|null} box */
    select(box) {
      this.#selected = box;
      this.draw();
      this.#handlers.onSelect();
    }
    /** Add a box in the middle of the picture, and give it the keyboard. */
    addInMiddle() {
      if (!this.#frame || this.#disabled) return;
      const { width, height } = this.#frame.bitmap;
      const middle = { x1: width / 3, y1: height / 3, x2: 2 * width / 3, y2: 2 * height / 3 };
      this.#add({ ...middle, label: this.#handlers.newLabel() });
      this.#finish();
    }
    remove() {
      const boxes = this.#frame?.boxes;
      if (!boxes || !this.#selected || this.#disabled) return;
      const at = boxes.indexOf(this.#selected);
      boxes.splice(at, 1);
      this.select(boxes[Math.min(at, boxes.length - 1)] ?? null);
      this.focus();
      this.#handlers.onChange();
    }
    /** Give the keyboard to the selected box, or to the picture. */
    focus() {
      const button = this.#selected && this.#buttons.get(this.#selected);
      (button ?? this.#surface).focus({ preventScroll: true });
    }
    // ------------------------------------------------------------------------ what is seen
    /** Bring the buttons to the boxes' places. */
    draw() {
      const { boxes, bitmap } = this.#frame ?? NOTHING;
      for (const [box, button] of this.#buttons) {
        if (boxes.includes(box)) continue;
        button.remove();
        this.#buttons.delete(box);
      }
      for (const [index, box] of boxes.entries()) {
        this.#place(box, `Box ${index + 1} of ${boxes.length}`, bitmap);
      }
    }
    #makeButton(box) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "box";
      const name = document.createElement("span");
      name.className = "box-name";
      name.dir = "auto";
      button.append(name);
      button.addEventListener("focus", () => box !== this.#selected && this.select(box));
      this.#surface.append(button);
      this.#buttons.set(box, button);
      return button;
    }
    /** @param {Box} box @param {string} title @param {Size} size */
    #place(box, title, { width, height }) {
      const button = this.#buttons.get(box) ?? this.#makeButton(box);
      const share = (part, whole) => `${100 * part / whole}%`;
      button.disabled = this.#disabled;
      button.style.left = share(box.x1, width);
      button.style.top = share(box.y1, height);
      button.style.width = share(box.x2 - box.x1, width);
      button.style.height = share(box.y2 - box.y1, height);
      const colour = this.#handlers.colourOf(box.label);
      button.style.setProperty("--class-colour", colour);
      button.style.setProperty("--class-ink", inkOn(colour));
      button.classList.toggle("low", box.y1 < NAME_ROOM * height);
      button.classList.toggle("left", box.x1 + box.x2 < width);
      button.setAttribute("aria-pressed", String(box === this.#selected));
      setText(button.firstElementChild, box.label || "?");
      const [x, y, w, h] = [box.x1, box.y1, box.x2 - box.x1, box.y2 - box.y1].map(Math.round);
      const name = isolate(box.label) || "without a class";
      const where = `${x} from the left, ${y} from the top, ${w} wide, ${h} high`;
      button.setAttribute("aria-label", `${title}, ${name}: ${where}`);
    }
    // ------------------------------------------------------------------------ pointer
    /** Pixels of the picture per pixel of the screen. */
    #scale() {
      return this.#canvas.width / (this.#surface.clientWidth || 1);
    }
    /** @param {PointerEvent} event @returns {number[]} In pixels of the picture. */
    #placeOf(event) {
      const { left, top } = this.#canvas.getBoundingClientRect();
      return [event.clientX - left, event.clientY - top].map((side) => side * this.#scale());
    }
    /** @param {PointerEvent} event */
    #edgesOf(event) {
      const [x, y] = this.#placeOf(event);
      const reach = this.#scale() * (event.pointerType === "touch" ? TOUCH_REACH_PX : REACH_PX);
      return this.#selected && edgesAt(this.#selected, x, y, reach);
    }
    /** @param {PointerEvent} event */
    #press(event) {
      if (!this.#frame || this.#disabled || event.button !== 0 || this.#drag) return;
      event.preventDefault();
      this.#surface.setPointerCapture(event.pointerId);
      const edges = this.#edgesOf(event);
      const before = edges && /** @type {Box} */
      { ...this.#selected };
      this.#drag = { from: this.#placeOf(event), edges, before, drawn: null };
    }
    /** @param {PointerEvent} event */
    #move(event) {
      const drag = this.#drag;
      if (!drag || !this.#frame) {
        this.#surface.style.cursor = this.#disabled ? "" : cursorFor(this.#edgesOf(event));
        return;
      }
      const to = this.#placeOf(event);
      const [dx, dy] = to.map((place, axis) => place - drag.from[axis]);
      if (drag.edges && drag.before && this.#selected) {
        const box = dragged(drag.before, drag.edges, dx, dy, this.#frame.bitmap);
        Object.assign(this.#selected, box);
      } else if (drag.drawn) {
        Object.assign(drag.drawn, boxBetween(drag.from, to, this.#frame.bitmap));
      } else if (Math.hypot(dx, dy) > CLICK_PX * this.#scale()) {
        const box = boxBetween(drag.from, to, this.#frame.bitmap);
        drag.drawn = this.#add({ ...box, label: this.#handlers.newLabel() });
      }
      this.draw();
    }
    /** @param {PointerEvent} event */
    #release(event) {
      const drag = this.#drag;
      this.#drag = null;
      if (!drag || !this.#frame) return;
      const [x, y] = this.#placeOf(event);
      const way = Math.hypot(x - drag.from[0], y - drag.from[1]);
      if (drag.drawn) {
        const { x1, y1, x2, y2 } = drag.drawn;
        if (Math.min(x2 - x1, y2 - y1) < LEAST_SIDE) this.#drop(drag.drawn);
        else this.#finish();
      } else if (way <= CLICK_PX * this.#scale()) {
        if (this.#selected && drag.before) Object.assign(this.#selected, drag.before);
        this.select(boxAt(this.#frame.boxes, x, y) ?? null);
        this.focus();
      } else {
        this.#handlers.onChange();
        this.focus();
      }
    }
    /** The browser took the pointer away: all is as before. */
    #cancel() {
      if (this.#drag?.drawn) this.#drop(this.#drag.drawn);
      else if (this.#drag?.before && this.#selected) {
        Object.assign(this.#selected, this.#drag.before);
      }
      this.#drag = null;
      this.draw();
    }
    /** @param {Box} box */
    #add(box) {
      this.#frame?.boxes.push(box);
      this.select(box);
      return box;
    }
    /** @param {Box} box */
    #drop(box) {
      const boxes = this.#frame?.boxes ?? [];
      boxes.splice(boxes.indexOf(box), 1);
      this.select(null);
    }
    /** A new box has its size. */
    #finish() {
      this.focus();
      this.#handlers.onChange();
      this.#handlers.onDrawn(
        /** @type {Box} */
        this.#selected
      );
    }
    // ------------------------------------------------------------------------ keys
    /** @param {KeyboardEvent} event */
    #key(event) {
      const box = this.#selected;
      if (!box || !this.#frame || this.#disabled || event.ctrlKey || event.metaKey || event.altKey)
        return;
      if (event.key === "Delete" || event.key === "Backspace") {
        this.remove();
      } else if (event.key === "Escape") {
        this.#surface.focus();
        this.select(null);
      } else if (event.key in ARROWS) {
        const { width, height } = this.#frame.bitmap;
        const step2 = event.repeat ? Math.max(1, Math.round(FAST * Math.max(width, height))) : 1;
        const [dx, dy] = ARROWS[event.key].map((way) => way * step2);
        const edges = event.shiftKey ? LOWER_RIGHT : WHOLE;
        Object.assign(box, dragged(box, edges, dx, dy, this.#frame.bitmap));
        this.draw();
        this.#handlers.onChange();
      } else {
        return;
      }
      event.preventDefault();
    }
  };

  // page/src/teach_data.js
  var LONGEST_SIDE = 1280;
  var KEPT_TYPES = ["image/jpeg", "image/png"];
  var VALIDATION_EVERY = 5;
  var LEAST_TO_DIVIDE = 10;
  function png(bitmap) {
    const canvas2 = new OffscreenCanvas(bitmap.width, bitmap.height);
    canvas2.getContext("2d")?.drawImage(bitmap, 0, 0);
    return canvas2.convertToBlob();
  }
  async function makeFrame(bitmap, title, original) {
    const keeps = original && KEPT_TYPES.includes(original.type);
    const file = keeps ? new Blob([await original.arrayBuffer()], { type: original.type }) : await png(bitmap);
    const ratio = LONGEST_SIDE / Math.max(bitmap.width, bitmap.height);
    if (ratio >= 1) return { title, bitmap, file, boxes: [] };
    const side = (length) => Math.max(Math.round(length * ratio), 1);
    const smaller = await createImageBitmap(bitmap, {
      resizeWidth: side(bitmap.width),
      resizeHeight: side(bitmap.height),
      resizeQuality: "high"
    });
    bitmap.close();
    return { title, bitmap: smaller, file, boxes: [] };
  }
  function labelsOf(frames2) {
    return [...new Set(frames2.flatMap(({ boxes }) => boxes.map(({ label: label2 }) => label2)))];
  }
  function divide(frames2) {
    const train = frames2.filter((_, index) => (index + 1) % VALIDATION_EVERY !== 0);
    const val = frames2.filter((_, index) => (index + 1) % VALIDATION_EVERY === 0);
    const classes = labelsOf(frames2).length;
    const complete = [train, val].every((part) => labelsOf(part).length === classes);
    if (frames2.length >= LEAST_TO_DIVIDE && complete) return { train, val, divided: true };
    return { train: frames2, val: frames2, divided: false };
  }
  function labelLines({ bitmap: { width, height }, boxes }, names) {
    const lines = boxes.map(({ label: label2, x1, y1, x2, y2 }) => {
      const [x, w] = [(x1 + x2) / 2, x2 - x1].map((pixels) => pixels / width);
      const [y, h] = [(y1 + y2) / 2, y2 - y1].map((pixels) => pixels / height);
      return [names.indexOf(label2), ...[x, y, w, h].map((part) => part.toFixed(7))].join(" ");
    });
    return lines.map((line) => `${line}
`).join("");
  }
  function readme(names, divided) {
    const quoted = names.map((name) => `'${name.replaceAll("'", `'"'"'`)}'`).join(" ");
    const parts = divided ? "Every fifth picture is for validation (images/val), the others for training (images/train)." : "All pictures are for training and for validation alike, for they are few: the scores that a\ntraining reports say how well these pictures were learned, not how well others are.";
    return `Pictures and labels from the detection page.

data.yaml names the parts and the classes. The labels of images/.../NAME.jpg are in
labels/.../NAME.txt, a line for each box: number of the class, then centre x, centre y, width and
height as fractions of the picture. An empty file says that there is none of these classes.
${parts}
JPEG and PNG files are as they were opened, with all that a camera noted in them.

To train on it, name the zip as it is:

    python train_yolo11n.py --data THIS.zip --classes ${quoted}
`;
  }
  async function dataSet(frames2) {
    const names = labelsOf(frames2);
    const { val, divided } = divide(frames2);
    const yaml = [
      `# ${divided ? "Every fifth picture is for validation." : "The same pictures for both parts."}`,
      "train: images/train",
      `val: images/${divided ? "val" : "train"}`,
      `names: ${JSON.stringify(names)}`,
      ""
    ].join("\n");
    const files = frames2.map(async (frame, index) => {
      const part = divided && val.includes(frame) ? "val" : "train";
      const stem = `frame-${String(index + 1).padStart(4, "0")}`;
      const ending = frame.file.type === "image/jpeg" ? "jpg" : "png";
      const content = new Uint8Array(await frame.file.arrayBuffer());
      return [
        { name: `images/${part}/${stem}.${ending}`, content },
        { name: `labels/${part}/${stem}.txt`, content: labelLines(frame, names) }
      ];
    });
    return [
      { name: "README.txt", content: readme(names, divided) },
      { name: "data.yaml", content: yaml },
      ...(await Promise.all(files)).flat()
    ];
  }

  // page/src/merging.js
  var GRAPH = 7;
  var [NODE, INITIALIZER, OUTPUT] = [1, 5, 12];
  var FLOAT = 1;
  var INT64 = 7;
  var encoder = new TextEncoder();
  function join(parts) {
    const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of parts) {
      joined.set(part, at);
      at += part.length;
    }
    return joined;
  }
  function writeNumber(value) {
    const bytes = [];
    let rest = value;
    for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push(rest % 128 + 128);
    return Uint8Array.from([...bytes, rest]);
  }
  function field(id, content) {
    if (typeof content === "number") return join([writeNumber(id * 8), writeNumber(content)]);
    const bytes = typeof content === "string" ? encoder.encode(content) : content;
    return join([writeNumber(id * 8 + 2), writeNumber(bytes.length), bytes]);
  }
  function tensor({ name, dims, data }) {
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    const kind = data instanceof Float32Array ? FLOAT : INT64;
    return join([
      ...dims.map((dim) => field(1, dim)),
      field(2, kind),
      field(8, name),
      field(9, bytes)
    ]);
  }
  function graphOf(model2) {
    return join([...fieldsOf(model2)].filter((f) => f.field === GRAPH).map((f) => f.content));
  }
  function withGraph(model2, graph) {
    const others = [...fieldsOf(model2)].filter((f) => f.field !== GRAPH).map((f) => f.whole);
    return join([...others, field(GRAPH, graph)]);
  }
  function withHead(model2, head, constants) {
    const kept = [...fieldsOf(graphOf(model2))].filter((f) => f.field !== OUTPUT);
    const added = [...fieldsOf(graphOf(head))].filter(
      (f) => [NODE, INITIALIZER, OUTPUT].includes(f.field)
    );
    const weights = constants.map((constant) => field(INITIALIZER, tensor(constant)));
    return withGraph(model2, join([...[...kept, ...added].map((f) => f.whole), ...weights]));
  }
  function withMetadata(model2, entries) {
    const decoder = new TextDecoder();
    const isReplaced = (content) => [...fieldsOf(content)].some((f) => f.field === 1 && decoder.decode(f.content) in entries);
    const kept = [...fieldsOf(model2)].filter(
      (f) => f.field !== METADATA_PROPS || !isReplaced(f.content)
    );
    const pairs = Object.entries(entries).map(
      ([key, value]) => field(METADATA_PROPS, join([field(1, key), field(2, value)]))
    );
    return join([...kept.map((f) => f.whole), ...pairs]);
  }
  function writeNames(names) {
    const hexadecimal = (letter) => letter.charCodeAt(0).toString(16).padStart(2, "0");
    const quoted = names.map((name, row) => {
      const escaped = name.replace(/[\\']/g, "\\$&");
      return `${row}: '${escaped.replace(/\p{Cc}/gu, (letter) => `\\x${hexadecimal(letter)}`)}'`;
    });
    return `{${quoted.join(", ")}}`;
  }

  // page/src/teacher.js
  var result = null;
  var teaching = false;
  var stopped = false;
  var isTaught = () => result !== null && model.current === result.model;
  function unavailable() {
    if (!hasAsset("teach-info")) return "The page was built with a model that cannot be taught.";
    if (model.current && !model.current.builtin && !isTaught()) {
      return "Only the built-in model can be taught: choose it first.";
    }
    return "";
  }
  function labelsOf2(examples, maximum) {
    const wrong = (text) => failure("teach-failed", text);
    for (const [k, { bitmap, boxes }] of examples.entries()) {
      if (!bitmap.width) throw wrong(`picture ${k + 1} is closed; capture it again`);
      for (const { x1, y1, x2, y2, label: label2 } of boxes) {
        const inside = x1 >= 0 && y1 >= 0 && x2 <= bitmap.width && y2 <= bitmap.height;
        if (!(inside && x2 > x1 && y2 > y1)) {
          throw wrong(`a box of picture ${k + 1} is empty or not within the picture; mark it anew`);
        }
        if (typeof label2 !== "string" || !label2.trim()) {
          throw wrong(`a box of picture ${k + 1} has no name; give it one`);
        }
      }
    }
    const labels = [...new Set(examples.flatMap(({ boxes }) => boxes.map(({ label: label2 }) => label2)))];
    if (!labels.length) throw wrong("no object is marked; mark some in the pictures");
    if (labels.length > maximum) {
      throw wrong(`${labels.length} names are given; at most ${maximum} can be taught at once`);
    }
    return labels;
  }
  async function join2(bytes, names, info2, part, labels, weights) {
    const all = [.../* @__PURE__ */ new Set([...names, ...labels])];
    const rows = (own, none) => BigInt64Array.from(all, (name) => BigInt(own.includes(name) ? own.indexOf(name) : none));
    const numbers = [
      { name: "known", dims: [all.length], data: rows(names, names.length) },
      { name: "learned", dims: [all.length], data: rows(labels, info2.classes) }
    ];
    const constants = [...numbers, ...weights].map((c) => ({ ...c, name: `taught/${c.name}` }));
    const joined = withHead(bytes, await assetBytes(`teach-${part}-head`), constants);
    return withMetadata(joined, { names: writeNames(all) });
  }
  var teacher = {
    /** @returns {string} Why the present model can't be taught; "" if it can. */
    available: unavailable,
    /** @returns {string[]} The labels that were taught to the model in use. */
    taught: () => result && isTaught() ? [...result.labels] : [],
    /**
     * Teach the built-in model; it forgets what it was taught before.
     * @param {object} options
     * @param {Example[]} options.examples The pictures are not closed.
     * @param {string} [options.part] "whole": with boxes of its own; or "class", whose scores are of
     *   the first head's boxes.
     * @param {number} [options.steps] By default what "teach-info" recommends.
     * @param {number} [options.seed] A whole number, from which all chance follows.
     * @param {(progress: Step) => void} [options.onStep]
     * @returns {Promise<Outcome>}
     * @throws {Error} `.code` "teach-failed": what was given is wrong; "busy"; "cancelled": another model
     *   was loaded; and those of `Detector`.
     */
    async teach({ examples, part = "whole", steps, seed = 1, onStep = () => {
    } }) {
      const reason = unavailable();
      if (reason) throw failure("teach-failed", reason);
      if (teaching) throw failure("busy", "a lesson goes on; stop it first");
      teaching = true;
      stopped = false;
      try {
        return await lesson({ examples, part, steps, seed, onStep });
      } finally {
        teaching = false;
      }
    },
    /** End the lesson after the present step; what was learned so far is kept. */
    stop() {
      stopped = true;
    },
    /** Go back to the model as it was before it was taught anything. */
    async undo() {
      if (isTaught()) await loadBuiltin();
      result = null;
    },
    /** The taught model as one ONNX file. @returns {Promise<Uint8Array<ArrayBuffer>>} */
    async save() {
      if (!result || !isTaught()) throw failure("teach-failed", "nothing was taught yet");
      return result.bytes.slice();
    }
  };
  async function lesson({ examples, part, steps: wanted, seed, onStep }) {
    const begun = performance.now();
    const info2 = await assetJson("teach-info");
    if (!Object.hasOwn(info2.parts, part)) throw failure("teach-failed", `there is no part "${part}"`);
    const labels = labelsOf2(examples, info2.classes);
    const steps = wanted ?? info2.parts[part].steps;
    if (!Number.isInteger(steps) || steps < 1) {
      throw failure("teach-failed", `the number of steps is ${steps}; give a whole one from 1 on`);
    }
    const basis = model.current;
    const { bytes, facts } = await builtinModel().read("wasm");
    const step2 = await assetBytes(`teach-${part}-step`);
    const message = {
      type: "teach-begin",
      model: bytes,
      step: step2,
      info: info2,
      part,
      steps,
      seed,
      examples,
      labels
    };
    await alone(() => teach(message));
    const losses2 = [];
    while (losses2.length < steps && !(stopped && losses2.length)) {
      if (model.current !== basis) throw failure("cancelled", "another model was loaded");
      const { loss } = await alone(() => teach({ type: "teach-step" }));
      losses2.push(loss);
      onStep({ step: losses2.length, steps, loss });
    }
    const { weights } = await alone(() => teach({ type: "teach-end" }));
    const taught = await join2(bytes, facts.names ?? [], info2, part, labels, weights);
    const seconds = (performance.now() - begun) / 1e3;
    await use2(taught, labels);
    return {
      stopped: losses2.length < steps,
      seconds,
      steps: losses2.length,
      firstLoss: losses2[0],
      lastLoss: losses2[losses2.length - 1]
    };
  }
  async function use2(bytes, labels) {
    const read2 = async () => ({ bytes, facts: readFacts(bytes), noted: { taught: labels } });
    const own = { name: `built-in model, taught ${labels.join(", ")}`, builtin: false, read: read2 };
    result = { model: own, bytes, labels };
    await loadModel(own);
    if (!demo.info || model.current !== own) throw failure("cancelled", "another model was loaded");
  }

  // page/src/zip.js
  var VERSION = 20;
  var UTF8_NAMES = 2048;
  var LARGEST = 4294967295;
  var MOST = 65535;
  var CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
    let rest = byte;
    for (let bit = 0; bit < 8; bit += 1) rest = rest & 1 ? rest >>> 1 ^ 3988292384 : rest >>> 1;
    return rest;
  });
  function crc32(bytes) {
    let crc = 4294967295;
    for (const byte of bytes) crc = crc >>> 8 ^ CRC_TABLE[(crc ^ byte) & 255];
    return (crc ^ 4294967295) >>> 0;
  }
  function record(fields) {
    const bytes = new Uint8Array(fields.reduce((sum, [size]) => sum + size, 0));
    const view = new DataView(bytes.buffer);
    let at = 0;
    for (const [size, value] of fields) {
      if (size === 2) view.setUint16(at, value, true);
      else view.setUint32(at, value, true);
      at += size;
    }
    return bytes;
  }
  function dosTime(when) {
    const time = when.getHours() << 11 | when.getMinutes() << 5 | when.getSeconds() >> 1;
    const years = Math.max(when.getFullYear() - 1980, 0);
    return [time, years << 9 | when.getMonth() + 1 << 5 | when.getDate()];
  }
  function zip(entries, when = /* @__PURE__ */ new Date()) {
    if (entries.length > MOST) throw new RangeError(`a zip file holds no more than ${MOST} files`);
    const encoder2 = new TextEncoder();
    const [time, date] = dosTime(when);
    const parts = [];
    const directory = [];
    let offset = 0;
    for (const { name, content } of entries) {
      const bytes = typeof content === "string" ? encoder2.encode(content) : content;
      const path = encoder2.encode(name);
      const facts = [
        [2, VERSION],
        [2, UTF8_NAMES],
        [2, 0],
        [2, time],
        [2, date],
        [4, crc32(bytes)],
        [4, bytes.length],
        [4, bytes.length],
        [2, path.length],
        [2, 0]
      ];
      const header = record([[4, 67324752], ...facts]);
      parts.push(header, path, bytes);
      const rest = record([
        [2, 0],
        [2, 0],
        [2, 0],
        [4, 0],
        [4, offset]
      ]);
      directory.push(record([[4, 33639248], [2, VERSION], ...facts]), rest, path);
      offset += header.length + path.length + bytes.length;
    }
    const size = directory.reduce((sum, { length }) => sum + length, 0);
    if (offset + size > LARGEST) throw new RangeError("a zip file holds no more than 4 GB");
    const end2 = record([
      [4, 101010256],
      [2, 0],
      [2, 0],
      [2, entries.length],
      [2, entries.length],
      [4, size],
      [4, offset],
      [2, 0]
    ]);
    return new Blob([...parts, ...directory, end2], { type: "application/zip" });
  }

  // page/src/teach_panel.js
  var THUMBNAIL = { width: 160, height: 120 };
  var SAME_BOX = 0.6;
  var CURVE_POINTS = 200;
  var MAX_STEPS = 5e3;
  var frames = [];
  var edited = null;
  var label = "";
  var busy = false;
  var editor = new BoxEditor(byId("teach-surface"), {
    onChange: noteChange,
    onSelect: showSelection,
    onDrawn: (box) => box.label || byId("teach-label").focus(),
    newLabel: () => label,
    colourOf: (name) => {
      const known = knownLabels();
      return classColour(name, known.includes(name) ? known.indexOf(name) : known.length);
    }
  });
  var tell = (text) => setText(byId("teach-status"), text);
  var plural = (count, one, many = `${one}s`) => `${count} ${count === 1 ? one : many}`;
  var knownLabels = () => [
    ...new Set([...demo.info?.names ?? [], ...labelsOf(frames)].filter(Boolean))
  ];
  function askBeforeLeaving(event) {
    event.preventDefault();
  }
  function guardFrames(unsaved) {
    if (unsaved) window.addEventListener("beforeunload", askBeforeLeaving);
    else window.removeEventListener("beforeunload", askBeforeLeaving);
  }
  function noteChange() {
    guardFrames(frames.length > 0);
    showFrames();
  }
  async function takeFrame() {
    const shown2 = onStage();
    if (!shown2 || activity.teaching) return;
    const bitmap = await createImageBitmap(shown2.bitmap);
    addFrame(await makeFrame(bitmap, shown2.title));
    const text = `Took frame ${frames.length} for teaching.`;
    tell(text);
    if (!activity.running) say(text);
  }
  async function addFiles(given) {
    if (!activity.usable || activity.teaching || busy) return;
    const files = [...given ?? []];
    const failed = [];
    await whileBusy(async () => {
      for (const [index, file] of files.entries()) {
        tell(`Opening picture ${index + 1} of ${files.length}…`);
        try {
          const { bitmap } = await decodePicture(file);
          addFrame(await makeFrame(bitmap, file.name, file));
        } catch (error) {
          if (
            /** @type {{code?: string}} */
            error.code !== "file-broken"
          ) throw error;
          failed.push(isolate(file.name));
        }
      }
    });
    const taken = `Took ${plural(files.length - failed.length, "picture")}.`;
    tell(failed.length ? `${taken} Not opened: ${failed.join(", ")}.` : taken);
  }
  function isInPanel(target) {
    return byId("teach").contains(
      /** @type {Node|null} */
      target
    );
  }
  function addFrame(frame) {
    frames.push(frame);
    byId("teach-frames").append(makeThumbnail(frame));
    if (!edited?.boxes.length || !editor.selected) edit(frame);
    noteChange();
    settle();
  }
  function edit(frame) {
    edited = frame;
    editor.show(frame);
    showFrames();
  }
  function removeFrame(frame) {
    const index = frames.indexOf(frame);
    frames.splice(index, 1);
    byId("teach-frames").children[index].remove();
    const next = frames[Math.min(index, frames.length - 1)] ?? null;
    if (frame === edited) edit(next);
    frame.bitmap.close();
    noteChange();
    settle();
    tell(`Deleted the frame; ${plural(frames.length, "frame")} left.`);
    const item = next && byId("teach-frames").children[frames.indexOf(next)];
    const neighbour = (
      /** @type {HTMLElement|null} */
      item?.querySelector(".teach-frame") ?? null
    );
    (neighbour ?? byId("teach-take")).focus();
  }
  function makeThumbnail(frame) {
    const canvas2 = document.createElement("canvas");
    Object.assign(canvas2, THUMBNAIL);
    const { width, height } = frame.bitmap;
    const scale = Math.min(THUMBNAIL.width / width, THUMBNAIL.height / height);
    const [w, h] = [width * scale, height * scale];
    const [x, y] = [(THUMBNAIL.width - w) / 2, (THUMBNAIL.height - h) / 2];
    canvas2.getContext("2d")?.drawImage(frame.bitmap, x, y, w, h);
    canvas2.setAttribute("aria-hidden", "true");
    const open = document.createElement("button");
    open.className = "teach-frame";
    open.title = frame.title;
    open.append(canvas2, document.createElement("span"));
    open.addEventListener("click", () => edit(frame));
    const remove = document.createElement("button");
    remove.className = "teach-delete";
    remove.textContent = "×";
    remove.addEventListener("click", () => removeFrame(frame));
    open.type = remove.type = "button";
    const item = document.createElement("li");
    item.append(open, remove);
    return item;
  }
  function showFrames() {
    for (const [index, frame] of frames.entries()) {
      const [open, remove] = (
        /** @type {Iterable<HTMLButtonElement>} */
        byId("teach-frames").children[index].children
      );
      const boxes = plural(frame.boxes.length, "box", "boxes");
      setText(open.lastElementChild, boxes);
      open.setAttribute("aria-label", `Frame ${index + 1}, ${boxes}: ${isolate(frame.title)}`);
      open.setAttribute("aria-pressed", String(frame === edited));
      remove.setAttribute("aria-label", `Delete frame ${index + 1}`);
      remove.disabled = activity.teaching;
    }
    byId("teach-empty").hidden = frames.length > 0;
    byId("teach-frames").hidden = frames.length === 0;
    byId("teach-work").hidden = frames.length === 0 && teacher.taught().length === 0;
    byId("teach-surface").parentElement?.toggleAttribute("hidden", frames.length === 0);
  }
  function showSelection() {
    byId("teach-label").value = editor.selected?.label ?? label;
    byId("teach-remove").disabled = !editor.selected || activity.teaching;
    byId("teach-labels").replaceChildren(...knownLabels().map((name) => new Option("", name)));
  }
  function properLabel(text) {
    const name = text.trim().replace(/\s+/g, " ");
    const lower = name.toLowerCase();
    return knownLabels().find((known) => known.toLowerCase() === lower) ?? name;
  }
  function nameBox() {
    const box = editor.selected;
    if (box) box.label = "";
    label = properLabel(byId("teach-label").value);
    if (!box) return;
    box.label = label;
    editor.draw();
    noteChange();
  }
  async function addFound() {
    const frame = edited;
    if (!frame || !demo.ready) return;
    const bitmap = await createImageBitmap(frame.bitmap);
    const result2 = await alone(() => detect(bitmap, currentSettings()));
    result2.bitmap.close();
    if (frame !== edited || activity.teaching) return;
    const names = demo.info?.names ?? [];
    const found = result2.detections.map(({ x1, y1, x2, y2, classId }) => {
      return { x1, y1, x2, y2, label: names[classId] };
    });
    const fresh = found.filter((box) => frame.boxes.every((b) => overlap(b, box) < SAME_BOX));
    frame.boxes.push(...fresh);
    editor.draw();
    if (fresh.length) noteChange();
    tell(`The model finds ${plural(found.length, "box", "boxes")}; ${fresh.length} added.`);
  }
  function lacksBoxes() {
    const unnamed = frames.findIndex(({ boxes }) => boxes.some((box) => !box.label));
    if (unnamed >= 0) {
      const frame = frames[unnamed];
      edit(frame);
      editor.select(frame.boxes.find((box) => !box.label) ?? null);
      byId("teach-label").focus();
      tell(`A box of frame ${unnamed + 1} has no class. Name it first.`);
      return true;
    }
    if (frames.some(({ boxes }) => boxes.length)) return false;
    tell("There are no boxes yet. Drag one around each thing that is to be learned.");
    byId(frames.length ? "teach-add" : "teach-take").focus();
    return true;
  }
  function asFailure(error) {
    const { code = "", message } = (
      /** @type {Error & {code?: string}} */
      error
    );
    return Object.hasOwn(SCREENS, code) ? error : failure("teach-failed", message, error);
  }
  async function withModelAlone(task) {
    const wasRunning = activity.running;
    activity.teaching = true;
    halt();
    hideScreen();
    settleReady();
    try {
      await alone(async () => {
      });
      return await task();
    } catch (error) {
      throw asFailure(error);
    } finally {
      activity.teaching = false;
      settleReady();
      if (demo.info) await afterLoad(wasRunning);
    }
  }
  async function startTeaching() {
    if (activity.teaching || !demo.ready || teacher.available() || lacksBoxes()) return;
    const part = byId("teach-part").value === "whole" ? "whole" : "class";
    const wanted = Math.round(Number(byId("teach-steps").value));
    const steps = Math.min(Math.max(wanted || 1, 1), MAX_STEPS);
    byId("teach-steps").value = String(steps);
    const examples = frames.map(({ bitmap, boxes }) => ({ bitmap, boxes }));
    const onStep = watchSteps(steps);
    tell("Teaching. The detection rests until it is done.");
    say("Teaching; see below.");
    const outcome = await withModelAlone(
      () => teacher.teach({ examples, part, steps, onStep })
    ).catch((error) => {
      byId("teach-progress").hidden = true;
      tell(`The teaching failed: ${error.message}`);
      throw error;
    });
    tell(outcomeText(outcome));
  }
  function outcomeText({ stopped: stopped2, seconds, steps, firstLoss, lastLoss }) {
    const names = teacher.taught().map(isolate).join(", ") || "nothing yet";
    const done = `${stopped2 ? "Stopped after" : "Done:"} ${plural(steps, "step")}`;
    const loss = steps ? `, loss ${firstLoss.toFixed(2)} to ${lastLoss.toFixed(2)}` : "";
    return `${done} in ${Math.round(seconds)} s${loss}. The model has learned: ${names}.`;
  }
  function watchSteps(steps) {
    const bar = byId("teach-bar", "progress");
    const curve = byId("teach-curve").querySelector("polyline");
    const losses2 = [];
    let begun = 0;
    bar.value = 0;
    curve?.setAttribute("points", "");
    setText(byId("teach-step"), "Beginning…");
    byId("teach-progress").hidden = false;
    return ({ step: step2, loss }) => {
      losses2.push(loss);
      begun ||= performance.now();
      const each = (performance.now() - begun) / Math.max(losses2.length - 1, 1);
      const left = Math.ceil((steps - step2) * each / 1e3);
      const time = losses2.length > 1 ? `, ${left} s left` : "";
      bar.value = step2 / steps;
      setText(byId("teach-step"), `Step ${step2} of ${steps}, loss ${loss.toFixed(2)}${time}`);
      curve?.setAttribute("points", curvePoints(losses2, steps));
    };
  }
  function curvePoints(losses2, steps) {
    const top = Math.max(...losses2, Number.MIN_VALUE) * 1.05;
    const every = Math.ceil(losses2.length / CURVE_POINTS);
    const points = losses2.map((loss, index) => {
      return `${100 * index / Math.max(steps - 1, 1)},${100 - 100 * loss / top}`;
    });
    return points.filter((_, index) => index % every === 0 || index === points.length - 1).join(" ");
  }
  function stopTeaching() {
    byId("teach-stop").disabled = true;
    tell("Stopping after this step…");
    teacher.stop();
  }
  async function undoTeaching() {
    await withModelAlone(async () => teacher.undo());
    byId("teach-progress").hidden = true;
    tell("The model is as it was before the teaching. The frames are still here.");
  }
  async function whileBusy(task) {
    busy = true;
    showTeaching();
    try {
      await task();
    } finally {
      busy = false;
      showTeaching();
    }
  }
  async function saveModel() {
    await whileBusy(async () => {
      const bytes = await teacher.save().catch((error) => {
        throw asFailure(error);
      });
      download(new Blob([bytes], { type: "application/octet-stream" }), "onnx", "taught");
      tell(`Saved the model: ${(bytes.length / 1e6).toFixed(1)} MB.`);
    });
  }
  async function saveData() {
    if (lacksBoxes()) return;
    await whileBusy(async () => {
      const file = zip(await dataSet(frames));
      download(file, "zip", "taught");
      guardFrames(false);
      const size = `${plural(frames.length, "picture")}, ${(file.size / 1e6).toFixed(1)} MB`;
      tell(`Saved ${size}. README.txt in it says how to train on them.`);
    });
  }
  function showTeaching() {
    const { teaching: teaching2, usable } = activity;
    const reason = demo.info ? teacher.available() : "";
    const rests = teaching2 || busy;
    const focused = document.activeElement;
    byId("teach-take").disabled = rests || !(onStage() || openSource());
    byId("teach-take-live").hidden = rests || !openSource() || demo.screen !== null;
    byId("teach-files").disabled = rests || !usable;
    for (const id of ["teach-label", "teach-add", "teach-part", "teach-steps"]) {
      byId(id).disabled = teaching2;
    }
    byId("teach-found").disabled = rests || !demo.ready;
    byId("teach-start").disabled = rests || !demo.ready || reason !== "";
    byId("teach-stop").disabled = !teaching2;
    byId("teach-undo").disabled = byId("teach-save-model").disabled = rests || teacher.taught().length === 0;
    byId("teach-save-data").disabled = rests || frames.length === 0;
    byId("teach-unavailable").hidden = !reason || teaching2;
    setText(byId("teach-unavailable"), reason);
    editor.disabled = teaching2;
    byId("teach-remove").disabled = teaching2 || !editor.selected;
    showFrames();
    if (teaching2 && focused === byId("teach-start")) byId("teach-stop").focus();
    if (!teaching2 && focused === byId("teach-stop")) byId("teach-start").focus();
  }
  function wireTeaching() {
    const clicks = {
      "teach-take": takeFrame,
      "teach-take-live": takeFrame,
      "teach-add": () => editor.addInMiddle(),
      "teach-remove": () => editor.remove(),
      "teach-found": addFound,
      "teach-start": startTeaching,
      "teach-stop": stopTeaching,
      "teach-undo": undoTeaching,
      "teach-save-model": saveModel,
      "teach-save-data": saveData
    };
    for (const [id, task] of Object.entries(clicks)) {
      byId(id).addEventListener("click", () => attempt(task));
    }
    byId("teach-label").addEventListener("input", nameBox);
    byId("teach-label").addEventListener("change", showSelection);
    byId("teach-label").addEventListener("keydown", ({ key }) => key === "Enter" && editor.focus());
    byId("teach-files").addEventListener("change", () => {
      attempt(() => addFiles([...byId("teach-files").files ?? []]));
      byId("teach-files").value = "";
    });
  }

  // page/src/theme.js
  var root = document.documentElement;
  var systemDark = matchMedia("(prefers-color-scheme: dark)");
  function toggleTheme() {
    const present2 = root.dataset.theme || (systemDark.matches ? "dark" : "light");
    root.dataset.theme = present2 === "dark" ? "light" : "dark";
    memory.set("localStorage", "theme", root.dataset.theme);
    restyleChart();
  }
  function startTheme() {
    const theme = memory.get("localStorage", "theme");
    if (theme === "dark" || theme === "light") root.dataset.theme = theme;
    restyleChart();
    systemDark.addEventListener("change", restyleChart);
  }

  // page/src/controls.js
  var help = byId("help", "dialog");
  var stop2 = () => activity.teaching ? stopTeaching() : stop();
  var KEYS = {
    " ": () => activity.running || activity.teaching || hasWork() ? stop2() : start(),
    ".": step,
    s: saveSnapshot,
    S: saveSnapshot,
    r: toggleRecording,
    R: toggleRecording,
    t: takeFrame,
    T: takeFrame,
    "?": () => help.showModal()
  };
  var CLICKS = {
    start,
    stop: stop2,
    step,
    snapshot: saveSnapshot,
    "save-json": saveJson,
    record: toggleRecording,
    "model-builtin": loadBuiltin,
    "help-open": () => help.showModal(),
    "help-close": () => help.close(),
    "licences-open": showLicences,
    theme: toggleTheme
  };
  var ACTIONS = {
    reload: () => location.reload(),
    dismiss: () => demo.info ? hideScreen() : chooseBackend("auto"),
    "retry-camera": startCamera,
    "open-picture": () => byId("image-file").click(),
    "open-model": () => byId("model-file").click(),
    "show-sample": () => showSample(1),
    "use-wasm": () => chooseBackend("wasm"),
    "builtin-model": () => demo.info && model.current?.builtin ? hideScreen() : loadBuiltin(),
    teach: startTeaching,
    "reload-model": () => chooseBackend(byId("backend").value)
  };
  var RESTING = ["samples", "confidence", "iou", "classes", "backend", "mirror", "camera-select"];
  function showState() {
    const focused = (
      /** @type {HTMLButtonElement|null} */
      document.activeElement
    );
    const { running, teaching: teaching2 } = activity;
    const kind = openSource()?.kind;
    byId("start").disabled = !demo.ready || running;
    byId("stop").disabled = !running && !teaching2 && kind !== "camera" && !hasWork();
    byId("step").disabled = !demo.ready;
    byId("snapshot").disabled = byId("record").disabled = onStage() === null;
    byId("save-json").disabled = !isSeen();
    byId("model-builtin").disabled = teaching2 || !model.current || model.current.builtin;
    const hopeless = model.current === null && !activity.booting;
    byId("image-file").disabled = byId("video-file").disabled = !activity.usable || hopeless || teaching2;
    byId("model-file").disabled = byId("compare-file").disabled = !activity.usable || teaching2;
    for (const id of RESTING) byId(id).disabled = teaching2;
    if (demo.info?.layout === "finished") byId("iou").disabled = true;
    byId("live-badge").hidden = !(running && kind === "camera");
    showTeaching();
    setText(byId("start-text"), kind === "video" ? "Play video" : "Start camera");
    const lost2 = focused?.disabled && focused === document.activeElement;
    if (lost2) byId(focused.id === "start" ? "stop" : "start").focus();
  }
  function wireChoices() {
    const onChange = (id, task) => byId(id).addEventListener("change", () => attempt(() => task(byId(id))));
    wireSettings(() => attempt(rerun));
    wireCompare(() => attempt(rerun));
    wireCounting(() => attempt(rerun));
    wireRecording();
    wireLink();
    onChange("backend", ({ value }) => chooseBackend(value));
    onChange("mirror", ({ checked }) => changeMirror(checked));
    onChange("camera-select", ({ value }) => changeCamera(value));
    navigator.mediaDevices?.addEventListener?.(
      "devicechange",
      () => fillCameras(byId("camera-select").value)
    );
  }
  async function openFiles(given) {
    const files = [...given ?? []];
    if (!activity.usable || activity.teaching || !files.length) return;
    const chosen2 = filesToOpen(files);
    for (const file of chosen2) await openFile(file);
    const left = files.length - chosen2.length;
    if (!left || demo.screen) return;
    const names = chosen2.map(({ name }) => name).join(" and ");
    say(`${byId("status").textContent} Taken of ${files.length} files: ${names}.`);
  }
  async function openFile(file) {
    const kind = fileKind(file);
    if (kind === "model") return loadFile(file);
    if (kind === "picture") return showPicture(file, file.name || "Picture");
    if (kind === "video") return startVideo(file);
    const message = `The file ${file.name} is neither a picture nor a video nor an .onnx model.`;
    throw failure("file-broken", message);
  }
  function wireFiles() {
    const onFile = (id, open) => byId(id).addEventListener("change", () => {
      const file = byId(id).files?.[0];
      if (file) attempt(() => open(file));
      byId(id).value = "";
    });
    onFile("image-file", (file) => showPicture(file, file.name));
    onFile("video-file", startVideo);
    onFile("model-file", (file) => loadFile(file));
  }
  function holdsPictures(files) {
    return [...files ?? []].every((file) => fileKind(file) === "picture");
  }
  function wireDrop() {
    let depth = 0;
    const show = (by) => {
      depth = Math.max(0, depth + by);
      byId("drop-hint").hidden = depth === 0 || !activity.usable;
    };
    document.addEventListener("dragenter", () => show(1));
    document.addEventListener("dragleave", () => show(-1));
    document.addEventListener("dragover", (event) => event.preventDefault());
    document.addEventListener("drop", (event) => {
      event.preventDefault();
      show(-depth);
      const files = event.dataTransfer?.files;
      const forTeaching = isInPanel(event.target) && holdsPictures(files);
      attempt(() => forTeaching ? addFiles(files) : openFiles(files));
    });
  }
  function wirePaste() {
    document.addEventListener("paste", (event) => {
      const files = event.clipboardData?.files;
      if (!files?.length) return;
      event.preventDefault();
      attempt(() => openFiles(files));
    });
  }
  function keyBelongsTo(element, key) {
    if (element.matches("select, textarea, input:is([type=search], [type=text], [type=number])"))
      return true;
    return key === " " && element.matches("button, a, summary, input:not([type=range])");
  }
  function wireKeys() {
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
      const task = KEYS[event.key];
      if (!task || keyBelongsTo(event.target, event.key)) return;
      event.preventDefault();
      if (!event.repeat || event.key === ".") attempt(task);
    });
  }
  function wireControls() {
    connect({ onState: showState, onAction: (action) => attempt(ACTIONS[action]) });
    for (const [id, task] of Object.entries(CLICKS)) {
      byId(id).addEventListener("click", () => attempt(task));
    }
    wireChoices();
    wireTeaching();
    wireFiles();
    wireDrop();
    wirePaste();
    wireKeys();
  }

  // page/src/offline.js
  function manifest() {
    const page = location.href.replace(/[?#].*/s, "");
    const icon = document.querySelector("link[rel=icon]")?.getAttribute("href");
    const content = {
      name: document.title,
      short_name: "Detection",
      start_url: page,
      scope: new URL(".", page).href,
      display: "standalone",
      background_color: "#0e1116",
      theme_color: "#0e1116",
      icons: [{ src: icon, sizes: "any", type: "image/svg+xml" }]
    };
    return `data:application/manifest+json,${encodeURIComponent(JSON.stringify(content))}`;
  }
  async function keep() {
    try {
      await navigator.serviceWorker.register("sw.js");
      await navigator.serviceWorker.ready;
      setText(byId("offline-note"), "Kept on this device: it opens without a network, too.");
    } catch (error) {
      const reason = (
        /** @type {Error} */
        error.message
      );
      setText(byId("offline-note"), `Not kept for use without a network: ${reason}`);
    }
  }
  function offerInstalling() {
    const button = byId("install", "button");
    window.addEventListener("beforeinstallprompt", (event) => {
      event.preventDefault();
      button.hidden = false;
      button.onclick = () => attempt(() => (
        /** @type {any} */
        event.prompt()
      ));
    });
    window.addEventListener("appinstalled", () => {
      button.hidden = true;
    });
  }
  async function keepOffline() {
    const isOneFile = document.querySelector("script[src]") === null;
    if (!isOneFile || !/^https?:$/.test(location.protocol) || !navigator.serviceWorker) return;
    byId("offline-card").hidden = false;
    const link = document.createElement("link");
    Object.assign(link, { rel: "manifest", href: manifest() });
    document.head.append(link);
    offerInstalling();
    await keep();
  }

  // page/src/main.js
  var NEEDED_ASSETS = ["runtime-mjs", "runtime-wasm", "model", "model-graph", "model-info"];
  function showObstacle() {
    const lacking = missingFeatures();
    const missing = NEEDED_ASSETS.filter((name) => !hasAsset(name));
    if (lacking.length) {
      showScreen("no-script-support", { detail: `It lacks ${lacking.join(", ")}.` });
    } else if (missing.length) {
      showScreen("no-assets", { detail: `Missing: ${missing.join(", ")}.` });
    }
    return lacking.length + missing.length > 0;
  }
  async function begin2() {
    if (showObstacle()) {
      byId("loading").hidden = true;
      return;
    }
    activity.usable = true;
    byId("samples-row").hidden = false;
    say("Loading…");
    settle();
    byId("backend").value = wantedBackend() || "auto";
    const samples2 = fillSamples().then(previewSample);
    await Promise.all([
      samples2.catch((error) => recordError(`the samples do not open: ${error.message}`)),
      attempt(loadBuiltin)
    ]);
    activity.booting = false;
    settleReady();
    if (demo.info) await attempt(applyLink);
    await keepOffline();
  }
  byId("unbuilt").remove();
  Object.assign(window, { demo: Object.assign(demo, { detectImage, loadModel: loadFile, teacher }) });
  watchErrors();
  watchSize();
  watchEnd();
  watchVisibility();
  startTheme();
  wireControls();
  settle();
  if (wantedBackend() !== "webgpu" && !missingFeatures().length) prepareRuntime();
  document.addEventListener("DOMContentLoaded", begin2);
})();
demoAssets.add("licences", "KLUv/aAFPQUApJIAeoPcFzpQa6oDMDMzMzOTAGGm2R6ChoiURCKShEIIsXDX6zQ+yYqEEbrBBJml9VXVNE3TeXxEyHrPxp/MhBHWcAFsAWoBlOVASJpJA2krwhNhhWoeyHko0WHkVM5DQZB+IovmsYii5iJ6JT0SHmcgzwRqIidCkPYnThTKojjVRJYDVVRD8SYiVVCkUkERZNFcONQz8cjkDaeqgiZQ5NUkuUOJBEGsyJEgh/GBKqmhoIgygZyaPMaHokx4vNIPsXmYKssCoioJIjUeqQcSTRdeXUggqkKZHH8uKq9YOOSBQBImiuIP1WBUkSl6hC4qjOud2HfYL9lisUVjOs7+2XI3q+/2L//wtXnez6jdnpN1vuTMAEzlvJ8l59dK5Pqch9nMH/OyOiu6mfvclBTLKnX3xjPbqmEvWafMfz1jL7NYx85QdCvIz+GZVYu5VufFUmotWWafTQ17O88+58n5X+lQYtMyM8t19uy1vuV5cYi5ay3+XVnn9dj1LPY6Pasye9e8Gc/sqW58v7P0NT7zaieeGo9r89f5b9mhgYqJCndgEJ43bd6vs0734/rYjPyxJ6nzGOCQaBEb31+nVt//c3cTra4oMIEggcMMw79OzcmvqpzUceL9i/Pua9SOazgxwRQA4N9Xy2Vg/7g9+0HOYgzHfNkdICGhoMuZXpJOqSHrd7bvYxkMfnnxP4ZJJWajLCmu8laereQW0t1MKhDq2ovNSXt7e3t7e3t7d4S3M9cpbZzBaoa112My8pRax2uVFYe5Pv7bPQxQZFdmFCLdERERUfNA3B9pajiZqAh0mnbolNU0FZEgqWFDCBcV9FzbecZX/uWUyg0ryNhbqNezcHa74NmUPoYYbnjSy+veIbS58eQmzTyK1Yn9jU3lZ46H+ADh+Om0uJyYxVi2vKx/Vrty+78Wh9nnKq/m3/WOp1O6v+x6DjbxaiE+4YDwqv3CgSIkAdJ4BHLYFhQhxxMhjOlxpEcCRZJH8qorJzbUc4HhsEJN0gRpnKYwHNIEVRSLop4KitTUVA3E4ROtOEW+ID4OJIF6YkOmSeJPZVVQFS2sOHkClr4Ymxme17PwtJuWitWX9CEtn2s+Vgu/MxKHxf6d19wgckPqablKjf8wTeKLpF+WHu2Zcf/mmael3cb343mBlv7t7HV1+lYf+wsxjRmYvLL/SGZntdilh9EpLf5/tWbD5N/rM3OzZ12WGuZmZihAUhVZHasoQU00oZqLCCRNnqm9vb29vWNHLKmZSBIoUo2kitHjHZ8n4hoydIiVR6qi9MQqwtgQxStRZFXN81CSxq2pclFZD6JGmig+6QhqItGhNJOnipUotT9gezvVF9v+rmo1OLE4bCbLx7nzRn488lMKBXOfZxN3XVdL5ZUYP/Z1wzz80af2ajizBWEt8DXkRm29fLbIa/sy8cY/Knx8mcrP3mxeHhm99uISO5URnh+9OEnn29jfebihg0OGDhsydLhexZ3BliOgjYTsp2VGRwQBwr+o3ofgW5YTp58r1F2Bcr++pO9j/JFbkiSr88p7TYpfq5p3/Z3ehRzZc0eAiQLZMi3d3LB8TVYJ6/2LdcwHiCPOVHshnZis3oNhfvnaBL5pFB89+dzDAwRakIeCIBMJLCGZy+VCwKtwYsNk1/jGYy+Zyuu95PW7qTdqtVh+SvFvWJbdteALM46BDTaMoZbuHVhgLgz8shnygdPHUB/DKSjm9VX713IRmkgmsXxqN9ds5Hhj5qcv6Ov1t6pNTKX21L8ta/Vpa8z3iAj/y3d72WPMrJxHpQPXrmW6iUFzYMFyf5kBXL1yxd/romVPHXIq870syP5vnZbio9555knlxC623fW6al9yMsvo5X3ZQwF4PrAU0HjGlZMpJd55lj6q/Ad+4FEgQQIKdzgQ921/C+rkpmPPzis1NM5+l1HlhuHs3c9PiRpDlhCczo0ycZaWzzBIUPqdUf/q+tulL3YLp2Stu13CmNrb27u73du9NQQTExUS2LuoxWzG+E4R88PTHRQQjjNrJVTGrtU6UuVYXrzaVOKMvU4s+4WaqINYw9ZCIzSSgiTJMgbTYBAQFBBOJ1QBxfnT86khHYRRSDljDEGEGCIiEkggIiISiWhbSAfZieoivlU1GUk+YzdsQY9uurKXvl+jFAUbBGOG157GGcT5V+7LAHwCyx5QHNXWtzdwEiRvgBfgzTUJS4mPkYALOAf7QSL/qoMxOO/pRJVTJPE4e5FerqxT1S8Qe0P3L524d2x685v5HpJl4EMxnFJhfWNni4pzX/yl91sPKPVHK+gT2CS8ZxxNDuHSO+4aACFK937fMMFW30yOmlgQzU/rOJSoJDGdFcYIk6s5+LnBpSkgkhlErXCc0j7Dr7qOSeh4K4d8W6Xl0bcjFi6zHllBPItK/b0cVQ3t614UFjfNsItgWmFydt9OGll0aoZcue6VXxbGL/aH38qCIZ+0PejJXFXaEOkD2J1U6UiPwWiFVaqCDJmcmPCJiR4PU4ugdFsRh2qIMDqTd9LVt1+uJXxKZyI5qopiXZedd6JSZFZYnZVwNYFQpUSN0y2dNQmC08sl1u7IS+QS7mEgtI5Ov9X5tcdpoPW4qMejKQkHB91K5Kt1dmupMlwNQ1jAlyuH4sPSXQSgZ2CJv+3lpWPUP4EFATjQR3A/qP0n8XlHYyK1ouoyqbLR1xtwRJBFiK9f4oltZyyb6dKk1zMVXz5czCdrluwd82uSUUSfM4XGeoVIouebgqhVaMOgWeGbk0usRS8h5xWhY1XUGOJhAGIXoNz98OovPALpHQ1QksOcfQilvoxh7WOAIoAfd9Uugg8UX9u+ZEqtCloQ12gDF8MNKOehkRifsN9F3p0zm3YzxJUozDzSJgx8AjQ2qVvY9OIa1ZDKhnAr9PIDKphuJIzhAn6nSLE5jTUIKvaElzow4tviQkkre6Uj6/QGINMidGQOMmLfUdgtK/hg1dKjc4k53JRIx0BvDRFUJSCEZ3gMAKA7Dnm/jVUj2kg/OaGIIlrAcUGVlVwZVdAncXQg6RBFHsGdlDNzb9gAIOku46U21XKjV6VeXtlfWmWVZHweBBDOwRtwErKNeK5xUwJ8nE9buh4Ojx/1ly9C1ErflILbsA6heu49Ltr76bddnAwsGd516272Ktt97htlFCGKaWkQBmzdkBuhXV6N8LkPqF2Sozv5jcHw7f+1DEhRha6YQdro9B8msSn4ohq/ZXZql/ANEETSkeGWE/uhp9F6AzDdIQXADYSsjNh8lW2yVa+lR6PCXvtdOGMU655VxmrFAhgii1IsLaPhzU7DSSHTBAKFoDSvN4ulqDzhQa5hEDB2A+rJY9hDhQhDJMziqXKCDOz4ZEmtW4HXw+F6uyBiCPlVdGB6e9Cq5wRRJZx1+fKPsB+/WiIPUEJlKG90j/BfoN1VkNrUJxH8bve+pNy9HfHmKeTv7IAEy/c9EpdEv5Ga9SuV3yUpKJM5IQhOzP//RPRWM+hXXPwgjnhxQTfirhYYXMUWsiKDoqMxbTUA0ukygK6LAWrZRPkNA34VHWxSCYYXojAk13jg3kQTxLDt9u0NAyH/AZHL7nZZtx2XfgcpjQ5EELWjIkir+XFsiWY6igBsJNaOj/J2G8Zt+6QRjU/3hXfU4OEfKUZkpKZhOcw6BzzzUyGDQGqxjY7KSkhjis1FFqPdWKHHOrRqL1IG7yGxKX6jrQKTyh8O26QChtrnsSlIxMHM7IkTGqJyhJZYviwIzuKK0V4kA7bOuZtxk/qGMAfUxo/MVrWgc2iKCvL0KyNY0NHQscSi36n6S1EVPp+XPsfzTiiuteDu4gVn0IRkT+X0DJ8RGR+67Wez2MNswrupK9AN1ZhK0UV8P6nL0tATGJ1XZ0MD6hQerQIFC7iAs80PcJglJrRfY/5h0IYWyv6IoVVeDm0AzQeT4qTymUGpuPGIvxR8NdESvwTus0nnDSa7UT/bYqSck6HJ4YAio2QsZwW1z3JjDsBpZb1B7fmXObecxf2PwprLr957dp63r+mrl3ukoBDdEBR0ZN0HlPkxi2kQscvpoDs3ouhYedJctYWd0R2n4VPr6SHjqSY2M6EXRKqvP8dNiVEZwfFXAs1+o1QovlU2zxSBWBaZRIa3es66xBMWKCbvKlSafZxjpTsj6N+obg6bUktNs5eFk/X0gV6GAWWaXpfW85wOTeTC52NymzOHKPp2D7R65bncedK9AT1ISlcggVCfyEPD3WtHuHxO9v5lOybEqdqlhXySXZCdNph4HR8povpt4YeXDonwY99xE4t7g2uRG7PIg6vYVitmyGsUZYl0RK3i4YRq+BSiyzjMIUqpBRqi1z0omMIZgEUQbvcxLmRfHBC8FXWtF2Sa4YdW5m+aaUY0w72diJdxuKaRKwVwnnfsCAG2exisS5iSkn7e1MB+cFnxrkIixWTnbaBTpuwiiyEHVqrQkZ6U3D5P7V0Oyps3HUxlWDlK72l+2ii/cELmNW5Hz6YfE1gc3vD+tuBDl/v894YUKNVNpIqfpDGhUXXFQi7OqW84/pebyMBwsHzs2LXWarmCPBUvTgQy+yiFsVLHxr2hjt1p8kDnMeL87rusCMKvJbI0wMKC7jjCtmWBQYEThFnuvIXeaLTjfVf1TvDSehMlKc2zQBGRQ0Sae2wFuOLLhJ3QJy9RdVhG2iPSVR3Di0NhwICEowjhswJRbr78UDdnwIyowaKsgLaY7tiV947eynDOsn2ZKrafqebSRk1xw3tAjZn9xHv8tgIcY7NxknoafD0hMGtA+H7cRAnBL5WQBsN7zRtD+Aq/2c2EkWM9iGkx05b/xlfy1bi4M81+lbGFcriO2RIaIvctB8+J5UePdPdqdzQSfA/tCVqmxCxGuAWk1HUuABcOKUjr6kPbc4nSFp+x/YYD6dMRF6wzLVAgerEPdiC6CUFResGQ03SGvzqMobwzE8hDPSmhxJ8/1WFvERBFpBg9A0ONcQdcwEiFgkLEJPdDrelpmwbZdAYHjvJZZEOdNAgEwiYgB313caUZEuvbWqcGBccTgd2cOpQKX72WIENM+PdJAlTYOt4OAspnQLZOSElFUZXf5D+MotU/J0tYMiqwIwYIYlCKClZnisn6bW1CPUKe6VPawDC6RegJT2Nz+ODJgIa05bUTmVzQEpUxyzaZAWgiPzVw2TJ+5rA7mQvnwH+hh4cciJkTZzefaiPH5ye6rGs1LD6bMzPbDuYSk3J3zyRw7MAN4f2jf3zIuiQ3MxMWQgQk1BurupAM/cp1P9GMRvdOHffQiUO8DX4bnmav4hOhHy9bbrmzl2TxhRdYGCPCZoNk+b3/c9RaAImBGB6Tfsr3JOC9qFj8XUkkRf4BazEJ018Vqqflk01VWg/kX/WSZJ6J+Kh0e4QigGSuH4lISCl96AibagujRBFOaaJvWYhIqyR/0RGdgWYWcSU7+jlkGRZxbrUBc+COTfCQc84ZuDtIKVFkF0WjPYSQeRwSdh5XFL+LP4KulN2GJZv75M/fQOyLeBCkiD8DpTT0yUm66rRQDQCr+/gTg4GLm4hlceYoHMEX3OmgB5CpqgH780U2EVpO6w0NVMJQWb/SKRNbEAFWsQ53kIhOUynzppoQFivWotX0ze+LEvxNCvBeConNOw3SwNYzTfRnGwSSSWD2Mkz4bqqpPRtlY3gjf+0Ozy+1WfZCm2Dbbj764zQUVs/ZirlQ9T9pYMcX4ERcLaUWSNLfVf+J2AARIbDLK4LRHCLpJCq4uPMBFQyHOBqN6pORWAcrOcFkB3NP99PWH0F6SXiy8OicGj7C45mWoZSk3l/RXE92Ol8vQEN7j9jOx098KioX2ER0Rfm/GRKb7t4so5aXc4Z6HEE7fR8B5PQ4iamvbCfvnkgQnTHR4swlqtgaaINYLTkkQvYG+Gb2xo6SJdyYYft7fg3x0AdoJePgMiPCcGGMz8Z3rhgBnW27MFa9Xooaiwn+9kFOUCZdeOgCUYRnNvruyY06AKmS1mvLA3XymfJbsyA9rk1M4BTVHuBxvX8iI98SP9A3iZtxivtHNOH6AkGByfnKjisTyqIZp3sXTCofigxGysW8djszmVzSOPwzFKtMiWLT5aVIrcfssnRSk+iJceh/zCp/L5ziQZ1IpX+UcRM9RZJTEB2zgOWXOAnPFMywLQI0QF2YhhgYlh0u2QTfYApDwopB+BZzRrjt7bDVV/IjKHkcOx369rNSMPNHm1NaFPulXRV53GS20JFAYH4hUWKBLjzmnIBQdCm99vxqUcRXukGqB7oCfHQAtip7JfCSuAGBlbZ4k1QS7Q6f2MSGrcgniD6vziyxFg5oJAMNi1M0oSFsAG0AcgDeEcnWRdclJHxHotHCWf4Zp9TWt5/tQ5pfsfzrn7Z/yQqntrdRi86OoxNHsKN7kHZyiKveiv3F9cjfUcLfyHkIaMOWRVm4j5TbK/1WsDHWJXVd0+dcyTfhXvikemqqLfqYLGfD6hMu5LgDOQoXioNCzzcMgnRFj3rgS7FLy47nw6Yk1z8/uKGSN+jpcLuaDjJc19/eqi/DaZvHqXWBG/P+quNQKOSik8uutSa5v9wdRwwrIQVJbtVslRS4b3e97Dkj/9GfpVblQ//01A+1QVJa/GBM2iVZUYoBEl6feYUAAmCEeFRyOR4dkqPI+u5ZMWoaCxwViwpIY/dZ+U4PgsSJfrBinnT1Y+TXGQxFoqhEoS3H3xq30DNcOH3OZlkuRiq+Zzq79ujUMxvEEmSqH8VQRvg6WotKEv7ju5r/z+1WZNeWx9YqFu6WcaEIk0mk6EAjcLbfflr7LLnHeQBhyO97QeBiTctXzao3bTMKCb/sFgS4B825n2vkwNjzBQMpDH6likqjKOx/G1Ew+YB9CxE8MMmPRRhjrIExtu91SKzQKGOVnxTcx3z51oiFMbkSA9QsHh3qcXVoOiP5tuO89b/ZhZqo41vCGyWtAWNAIBAQFBiYjqaj6vAHA0J5GVKIhCsSppQikMiITCBBFCRJUhnm0dIYQ75kNdwQb40pdusKaRx0XtBMw3erDNcdSAgUGlS2VQ63nswz3AG2lhXArUbgNOE44m9gsGqk5RLa/yQkhaoBqJJXgFtCRPKj09fJMc9I9Pwapzc+r/nZc0s2AqmPM95Aes2/J5iY4CZj0iKfwvQ3JFe+NMOhPtYKjoaScXKXgf+nRrXhYReIZ1FHBzwXzSdST+Y352e4jBeAjkykCElrTNsh0QJ+X/Cck3AwHiuON0mi9owLLUzF2jlT0Vy3O4V8qNoV/TLieJ1im3NNEObp4O26/sMTawvCr6Xr2OuG5QeoX5bWhtxodhw1S8gsKP3iH3nZRqWTMfuK5ledKoPUhBcDfKj/5Xo/0khdNOkQ3NuZRouxtXAh9eAY5AbE1rMg/sv8Bx4eTWGSOLh7Kr7pDS7ODr4MC/mjZpldr+hksBtGaRSyE+r7StVOvtyrCJUe4VypXUUCguFNTbVfTy/aKs/GLtqSiGR+7VCV/Pqr4Wa1SDkAb2T2pZUy6t9EBz1zCuKpPJ7tTtA6YoSRHnmS6oUNzxEZRAVi7N3TfkEIFWG6EfjGNj7znNx7IpaGY3mDmiHkN+SqhgMxNiL3d/X4pemADKpQAxtAQmruxolIcQn7ng6eSg6PM2xbebyDpEQeqs+//72O+/Ch8XnWV43Jruyp58WfjSGofguzd3FTIpX5cdVdIEa1/scF32/JdTIjaSqqInk20CNmdDzo20I7pYUjwynVfGVAHM22Nf4gC4mpGz0Y6Le4TK8bX+N4SDh3UMsUWohu2Srbjdbq+ts1xGsh3uG/bFEYvIo8+9+LCLEC0Iyzz1ZLO+pSdOL5AxtNNgvrNp0dUkx4dJK3H4IFOqIPXKAz4AxUhzTfPL7golM4eyABXE6KrcZ150vtD5wr3a8d2Ca1Nia/QwC8nWIwc1wxe8Mwl//u/hc1x0I5O5TX+tDP6rl4TRKmBuoucX4/pKBQCoXMMrfQgVKRaZ1Vb0ekBALF8kgtSdHhIxq8leWeiE6+ysdR1QEwHqt7usN2XgMIVBKfJ8ek9gDSo3h1FeQ1NTEiaa4Ve4fkcZOzrJRiMTxJdSuISTCcKIztBCsz4WfH1l0I4eMixdwEVU2o2N/A4GkC/gyw03Qlv2hWYoPSiJfuBJnmR/iwiymV++3ZU/ORBnCA5qNlG9eKpdzUJYRFFGwrBdI9FMopjB3oSOnz9T0Z5EVVxYnfGjMMkZAasaNkhSOFb5RJYsgjl468j1RAz73qtLshaoLDJn36ZU2QSsKVci7TwSdjzLJIz5N6YDOxEenxOWRxKddHlnAJDjrQR6fY16CwaFxX6xQELYJWnZSUn3b8WaQUKVPj1HafNPJ1N3kjcq8WRGONnDIAuhLSRfcNPWRUoajlWLn0pk+RoHyZfashOC/71wf3dHmDkn3P0YvjKwQQyIq11yXVnc+agnRXYnAftlOnvMSi+0SFDrnN2la4kd0Xo8qsS3urvpwJiOCFetWcyMHBUwjvBzighh3UaRyRGOdgSCl0edNfOVDL2CDSB8fb4FBjpA7HW8rbcQGvucmXGCVXfwOAhJcULaSPzBAnF69fA8atQGgQyB/+tb2aKMHZ7eY4bBEmT/nJz2cyQDmutA4Wdu51uVvJUalShssbbUxnJwQBcS0AIBAN6il7qLeIAl7spbugaRTSDYrdG4ne6nI1HqzN2MUxJiGCHtTpJVY6FFTmcIPNE2q5VK7OGO/WtYE1kYzNivpL2l6cfHBX6ANdoBA6axfoUwoPhG/VmNh0lxC25kSWsNYBO2EIFXkxmIBszuyVbPPHjtvqMgcFNXktMZSz6G4mqV1GH2dYQI7NdTwdAm4UHOE3cYf7kOSY13BILUMCXLH/f2ZirLiwQ12a28XAukuUj3OqVBfRDhJkoZFOikxxau2aX4aO8yZNfQ3YxXv0CTMngguf4lvMa2qaGNlvXfz/V2mHhFHAbCSHFFjMymuxVasjyuGqEb4yQFzJIwmGQY82dDDwP0IK5C0q4GjBrdXzUMeuZOQeumo7o+sk/DPrEseYX1h+klvVEg9xxnBc4FgyFokkJIjUPftRqvGJjGhAC2OZLsZbocRuhYMmoFB3aDFCtHcIPuDuP9bjHSNFdcRpHtk2rcouVSYOzv6ygXoQhvSXsNkoxLxk/fOZLc+ueMG6OWbl94Xv1BFnw5FCEAFjiwZAP+lznmUMSb6QQmGOdX1on318BVlheKAli6E2DnwIXe0LfGFFPqyeOrj2JMiaoQY0wvMRyjoNTF8LmmH1EsxBl3lDkfiUWMUSjg3ZLybFHyV0fsKRgOMhDFDNiIj9KzjA10aXcu/Fq19454q+9ZFs7SWI8Do24pdDgIgF6nXTO2lg0vNd9DiS9EGygFBKkcNBha5QLRsyp9fQ6JhBHi6618Cert4Iz6cavD58PHBAbhhL7H2IiaBKF5PP7TcLwKDjzOdhXz7UgeUSvRT+gR0PGDxYKqfMO1XjDoPzU5GR2FzQoTkg4/9TfUroYEeBIYnAvGVVU271T//37CDToGIMCETa5h9d42hCkdvuDB+JSsFvQuFELV9CfGOe2hqPBf7liGlslH1KaUj1Ho4Yx4bzaMn5MoCSCN4aG4kyQQcn2GxX0KFA9keBtS54njO7JTrWz4hOmOXerg1E5A0QCluBlTDaeeeTvldKhn6MeyR/SWKCZ5w6XV817SQtldUlMas+TJMZHe+EDiGoYb153yrdThKYVl8zkisIcZxFspPpNEoULghZqKjCwUWPHvM4C27Y99r4y3ZGUe33XO9bGFrYKo//it3OHE6CLMh+Rc79FpAHdrzmYyNO43kDIfzvNshZTYRuxA52kArZ4rk0cc3NS5y82lxmF7/n86XY6p0yzITIlL284yCis5mbnULnS4Sc2FCo7UT8VaUHiiOdlfBIxNYN/c/tEplICLpiybB0T6RBJ52Sc9sT2JwhXlmh9jY+a7AxbZlBOkkUuUbVMSNkw+EfJ/toG8m5/HLS7WW8XFVI5JCTUeACncBQg8MXPLaj3Dy/VJHWkBMfiir+FE40eV/jhVbEezM6gRnidEMJmIquCbRiPlQwAOrK8HcN3de/skALPVDhahqGflJxC/1r4PuD1cxWbNr3pg/+yf5NGHy00lRIaHm0ad5pRlhDFjZDwCk+v8Lqntkvw3QyAQ9dSlbPk6c8g91ugeETkaF1AX/FNTT/ZbZNJrr05uFflPnEySQaRRchbQs5MVYKT31qYOg6XgS1eySdQeNC+mxrAmZ1j8Wpb9nt/UET1+3xLeWuxCGX5kryLupaOu3t5Mvk549e9YCVHUKj7xBzIqWa4DEmWlPoyO0sEl3bRVSCYElHUZ5cj8ENfBFCcZXknSOlMpOrLQQ0583KV1duDr4Rd+IqIBsjGwpGhYLGr8ovCIawK+KKNe/HoMxGuSjGUboFFiId2qNQuKNvGRuWzXhqr6Gd7oCl1RoBF5FTvPlm7Vp1u+A9LNRoraXOr0lYvwMEaAvYoTuTwBMeyuxritKnsQJTKeIgEgBXIh0v/i1TLMrQim4tTd3mmBnuvqgz7uKQOWxNI/yMYwAo8bgvShGqE+sIUB3lDXYFkyWfsFjCY52QMwIRENS98gsSi4MM7qeBA/uaueane4LkCoLjPxoYzB2SDAU+DxGYasUKEB9jkVeqbRBaaLEaNCwaeo0wWHuQAlEvAUe3US4mv4Lg/+VJYJuDn51/6N+4GkE4Bn3ZQb4Xc26g+yIamFnb5w/yqX+F9iz5qVhgA7ONRfpjX1AkjoIj/sNr7ApwzDKPxenEgBKG0t3oW3x/CZIerXIUiRZtoYxXCHnVrMy+SLTJWO/LDvECxkRwGDjikDE9R/Xx58kgjJZpi86Yh0GtHA3h2s6YKNgTBAsUf3kqC7nJK+Dfd3fcdYBxeIrIGi2A9AfTk6gUeFBwWHkkFbI47wl6ixFDBQ69cUPK1YNydFr5V8bwiJkljf3lmFbJ+AHOhDQUArmufUI2x8FNLgMMCKdztAp8dggKUuYNstroi8Q1W6l0ioEySNMovd1328WA5QgKmrcpPBx6W4pKV996m25aplocS4i8tDQUISLmJAkMy+xtwjudk6QtR2TiSAU1AEkJvVUFOMGw8909UncABrA5wmcLXYJIfErCVQ5Grdf0Y7ZOD2sj32d+qhOFaicXlBa3TesHbcReSd0MmodxvoZGGrqVgN2YT0DVCJKfHCPAunAl+Uzp4LHLsGDd3rQVeBhSD4sIvhZeyQs0BrQNAdp6JBY7UGvUATAzi52ZdWYZVSEXf5+QLSOMSLllf+Juae9VdRgPtYXRhIA58MZPzTAzMGHHuHKp//ZsVA1YTA1CAVQBWwEYTkWz0ZkogPFGeUAwXFgMFzBcUH0QWlPFZMVibMwfRyzHJ/3dNGUwOtEqZFXfLygR0aobaxxldHvazq4yQrY6XuioNS8Vasuu+h2z1ezXYkPO6EM+ESJNpvSxKxU3WNH3f9hY+qaeo4yfaZX0agMy4SB7BERrFuQEVR2AESwBVbk9y1X2+8ven5JN+SHKF8u2ILRnZIZUoquxZcys0/2NrS2A4HNBjxeMKr1/nk/poasqry/2ym/VonUiLa1jpVfrZfH/OR3tYsGorrQquV/1osa4quqpfHvFUqsquJsV8XnYlWpUpRZf35SUVSXVN6U4P0IIDTz0ph5mKGOFPNJXSVXbOSqJSNyESLktaPVvrHS+iHy0f45EI93Pqp0ICY2XQv5KQcTD5JVdO1DyOl9SOvlSWUSWM+/PFIRyWBS/OjuJmQNWptM0PRkMEk+2HIELk0amwvH7Mt62kGJwEoELU2fy6Eun4prmdKhN/yaPXl4nw6pd9+H7eiZ43Ci+N7k43Y4kvWomeg9ezqGMQRYIQ6bkhqRDD7TSsWim9wj9PQxHF6i21OR8lh+IsWwmgoaGvkoSxD9Wk0UjQsV2haqq6urq6lpSBMRezZGA/tiiuqlgLhhJ0l3Vy3XT0cuIfpwr+Xnmv68lSfJhx7DAcWCyUS/igzO7QQiKKxWIfsGu2C3jDozzWwJ00euMFueMFQtjF0BQoC+eBWI3ODQr0diNaO+KWoVpIs7YjWXM+PYrvgg9Wagj07KQYeRAcH9zNsRuYRZigB1kySQiGvt4ZqsCsRPPtrlQjbBlp22zu7u7u7u7u5eVDmybTNPo6q6u7uquboZHY4HY6diL0ePwkr6yFx+Prq47oNFpoLq6urq6qupiXw7qbNujrDi1y6UVZSY52XRSJOL30WJO6KP1Zl26faDH1fPmHT8GqqIF+bF+D0APq6k5WKxyjcjDPxxhqy2bnNE8NsvqCeutEVt6po2sDQrmtIyRc8Yo9vOcMzDHz+fUNJixnXlmISgLhb4ZFJ/Gm40cIx4dHxQ+Aeug2AuylgGBsjEy1+GcwqfkzH407Mwx9jVnjxlF0FOiWxp7aNAf5MzD38d9otUXEgkkXBRhlB8WfThMA1HoS+Pq07L99fuFtKgc5TDJH5bFLKyKv4UonMGYsYNLewVbiiy25QdW/ihW7JBa82VGEOVdh8u27lCwiqIh7AwJslBghNFRFIvBYFrz8CByvEIZtOWoOJoUpljZXbENZUUZXBTqcYhiX/OWm50yfqgbY9AU+9zWShFDyiJnMah+Tf00QeDkLvcTiT8c8vXw0UjdW2xpXch1RQPGzQpQBVWwqQm0oVDlDlwCGs1limCBYCoXDAvNA5W4IZmuqvTaPrJeq1YJNCcMXFplIQYgOj/GCshOZGMgkAmXTadj4cFcXFR2wEYikJ345ze1amKHW+FUMFNOyBSx2ASRlqpbLeV49zVk6AAlZDrmVYcB1CgudHVVdVVqU3vNAnSF/39Jnm29dEFJLegt46w4ZxV0qyvYj0HvbBfZ174WYZSgCm5f2cle8UkaqOqq6sNDhQoNLDirKiFJIE30tZNueTFR2A4XunKmzdMZL2uzuOXjXaef2E/Fd+laD92aJmQI3UFnNxkzzGSjcVF9ysKrurq7rn0lDQwH05Y/diDNGD+U6xusc7CSoffsVFwymQqL+wcaAJCfKqjaKBjlKGKdHbXDyykKPZ1j2ofW2ca01zgsbA7Bwzlm5jraZZ/1u4qlWxTNTbmBwyV6G/vsVPS0BdSR7llNZfGiRO1yUWuQUe4wjXK5izSoBHb7NVQlNAAAAfNAAAwMi0kkIqlgMikJPzRkRGoBiEED5QCxJA6KwWEQxUAYAgEUACAAggAIAlGMIk0Y4yi0BfebCGBq2MK7cmSbP6rnNTz6u5LV2+Mt4aZosHFbvx0hqbGvazeuENoIX3Yb/7YfI+3/uQ4qZ7wsgUbsQ3DTYe2Qor2WYfZUv+R/2TLxUchbNOyOelupdTiNe/kIV2tfka1mvAo9RHnfB6WzNkKqCF1I3O9cyANbinkn+v9ERQWOlbwafVCL5OwTJN0t/B+qIiHQEIlQgZHxmsb0khRBM3YSXI+QZj32BiPEiZ8F8r+aszg4B1/b+YGlMIMTw7KS8+BvfpdtdntV/iiXEhQjFPGmG3o7x3IkAbz2yf6El3SgEIjF8yOyqW61VYOfTRC/oQKhXd7rEhGZrkTcz5LfuV3jyrM3x3zhpn0PQlrArxd49aw/ep7EdJh6WdFm5URjNRnsm/vdG/mPypS0h8A/w4cu4CvgPPmN5AZUaJ+C7Dy/qJMO9ziMeMABelLaiO65fp8JBxuNjQvjk+l10OhJxW3kDioaLCb32tIWNnxM3T8sXkfHQIdDzTf+wNAOBWJgdbYrhyFhk/e+UIl3imHsbVhRJGcNP5N9FWoDEJBhkKX6MnmYo6yN5cgmdhc0mHwSQzkYNrlKF5uBfP0+Ov+W2/ljOL9XwMBYj8iKIwcp81Zc7oHgsmQ5LY8QfYT/BQHJh9spHXqeS7AbBaf5eqFSJljmKQye/CC6ijKhhyrCvjlm28lvl2EjRsfT7mUym/GlQ/59OwqaYFkHoi9TINtCHVvdnpv66OJLgdSkSNvMUD6bloF337oT2AEkuRXmXXTzB8UpAOX5V/wBht141pkpBQ10B/B5ITaunCO9vKCKMniIRkHxaAokLliitNqSCqBEkdgPWepIaPLF2m0uRzebXRyvWqgMT7+8Jwc+xUSVYBwJWn0r0T9JpHnfQloaZwR1qRIadHPDQ/jL6f4Pz9uDhssMVkIh97utaycMO09SeSiRd4m18Tr9xvvAIhSgDkxvo1UoT3Lj0kXolxFuXSg8reOf64d0aR/ihdJYb+ib4ZJNNKZ/4CNbpLT68Fn28CqNuKbZI/7GNQhALzPzYjmTlAJsjSUG1CH85Vmz+k7+N0TBCCwCFBBwrLoysoB7clp6dzGAwSOYtaQ6siUSGOCWdP23RJR0QHuDWWh3g8SQVKrIxB2GF1V1IfTaqmGc2L4jEz8Repb/NxpdepuNquoYniRGNeqhB1+x7SQI3XvrE9QKy+aPCvpRB6uwnp5pchb974w9Hw0/HoOB0G29SjoK4gNER1PElSNXg/cnG7KqR2MR9U6DTGV/Cb103yAdhp5wFylu87oP42SML/S2dv1TTE6tnFuRbHqk2u1TFRDFltAUbAQ3hMs5lKNmMAH3/RCn6CFTdZUm7IpC+s6Es3iTS37mPmz8K0GqWqo0KCK9y0XJyFQkK8IFKqd9GoO60tchifzM2H7olAhcdSJIGCjD5XmEsLcD2FvXUjCBKw0OHLMPROsiyBIlCAejoCtZcGS/oJulBxEm1H2KMzZ4Wk232hxloZzJgs1miyvg2KaBAqQoMpnAIPa8Bw2GPM5xLBcBFot1bv/6IDul8O1FEHu9z//HglxULrYXNL9DHgQmHScW1gN4yeeJXIJBSnLqcX2dhiJL/08WEbMVowMbc6bcHB8PAsJ3/dXfWxlMoJ7x3S41eo4O/6oJW9wH742cgfPvSOlIXzdZ3nxnFfkQrc/81EQKWnydBpztW5WR1rYXFZXLtuDAh6CA/jGeDTSF7EQnHjBxoHsXKohtDKG+oxfoB8cMMl4MDcG6bCI2MByotpQrKL/n2LWeVLdwPe8mmbNdZDOlW4WSVQiuR6Svsj0kt0RqeTu8g710t1QJtxvpXTaPpw4pUyJeGjWLqF/+ZJphq5g7D+39CTJnJZdMoP6vsPplt26tArRfg0gcr+WkxdHjkJhup8kPmAVH0eAgvNoHJ8gKtNmtrKQLwLHU6tA8yd09YHa3t4hg5bprsrSIUCQCCk4lIHzbUiY1xQWC4s1ImRCF+k2qnaT12oulWRwjZbD5ABZ3i0ToCDJVBG9O+uQxBfxLxJh3J61fjZxfDS2taNxWcGPCRcBpRw8VAxn01raS1HtdtVf0jyLivBTmHhwYd/66nS89uFgvzOZm2a5GcJ/oTIDgMeRTT8CyUxT84HiLMn1OQLa9Vl3M66QvgQMVSlJAohM16uU9yHi6oQsPmsfnj/ZuRZksfVeyIm6MCtdrdxvnZUBj8MEiw83C9QSmkGMmu6UaekX6k4nAmSNN+Ssa0aJHFcepUHpBWU3lWhVd8vjJAhx3l6guCs8q4N66WlDWDxUy57XQw8qI+IpUyFS8rNiqCxAojWDTInPTKrS19fzjcqT+irUP3sYGU6qzPiwvVvl8TErBqrJuzPPFfgc/kueR3SFQe42HsdcztBAFHLVy/90CQm6IiIUVeAR9C+XRi5cxo8bkS8rBZzqpfvMLQLSyPWWK7N+KJTN9U1HLN0xP20sfpFkkcjtc6h1oTrc7ePwQeq4l+dmk1ZZyZOOxA+q1CACGFTMWL3iKXwl9ActYzFMENzxyB+G0BuzIv7etg2dTQ4IIJtSenKNqd6rBp/WCrLAbXArt+ko7qqX3HMs87bZ+6IWis70qyop2x9p5ONHCQ9iCoxvqdA3v3ev5JROt3to/fEvA9rgqRQPosT1QBxjhH613ptEbH2hpFXqn/0wfkN4ffcxTzxTPWIJu/Zk6hQqM74FiatPeeof1OeCQY2yR5r+GDn0nl9KDzVw5CF9dBPUZ6AJn+1YTRps//z7ZRipCv+A/aCvY0dPLgjUOCwnPGZSddJeyEfaeHE0Gtfl7D1Ah52yFRGA6XAkbi8Vgg+5pi6WHPhSXyvESdhqLnFPP7awvSp1hwnDQ5BSSB4nyScsaPS6iw2OeZbSwpCnuYth4x69giJuot5QHFCxarBiJk8I5ZlY5r+PCQTv7f1KEf4X1Rd0w3YlDjFqVANl+mM6bu1CYA0Ws+KPfYG6fIqqAwgfbJiHY8ar6PQsL5OmL//tBTtIgsGoL8k6NwjjUaLa+iwuOa82/0OpXgcjDYPUBd5aAy0KqdVUACwZ8YACNmAfMcdqUJ3byZxTaS3IZaxzerA1BFToLseEa2IlEO8kdiAmDloWNEoSp9nOAOiLAR29M1ko7hJuANa0+w7ev+oREqn9gLg3slfmz29qj8ioOwmIfTjEf/waLAaFXAkARQBhwhEAh4ALa7KwP9suBhXbMy4P2Ec0AJfOS6Ti96edAym0EEzf6wQlKscb5qLy2I+gtAreeovnxzot3QPP+Cx1NeYaaiAi163FvHPd6qcceAJNNik1cmoikCKFufd9DBIGZZPY7pEPJh5PGxRgF5Hhww5XIix8YSlimJMZ+RBsFe2AdlACbB6jo6IHlFYxrgvAJGKFwmvfWWPImQOIuxLpD7M9TfCoS0W0Kf0H3YgXL4LZMHISxEmzRXC+MH/KDxnq7ciKT/RIUf/UZK/yLh47w6W0oL7HPyb3l7I2Kfd7B2s1YWdZ1NtWCeooOzBqG5mE72xlkVUKyZkSQylOHprsY9qS5kMf/CvqOQ1ra3UU077LLeU0KHGj2OXRr95Qq4KpgCaPT7ixSrLFDd2aISci08WtTLWt746nXdFIifQGMm09yldVKLMsUR4mOQRpWQREKsA70ifNlwIpk/UXL96YwKE764LCZBEGYHBbQz6Z9NaABQP7SyZ8+bybp/v1+sDcBio2gxiqFcYoh2aohLIXwyCthR19zY09AsAR3b6Df9dooR27l2MDqFeT/25Q4Aym3krmMBGr1GSEDhbLr+0II7sQbJjFEpucRnojfsvuMT/zvJcjmyW8nvPFgi+E+Ww4HccWhFj1ZNvEjpM4ouoOO4UGMmipzYXHWbbCtLgR0y3UPsvtY8nWZiIHOcQoO2UEI4XsOjoHTU5tZmcqDz0yRIrdYoYAHAYcCjr+p6eINBbT78UYYYkgegryM0tqlgAMpLouhCO6wnq7LPSkbLkuirr91pP2rZd4/llZAtf3rhUW3jTHEtyysFNMon6CvrTBZV1VusWP4pEOSWOFfkUDWzDz0sVgIksJNaQe9XDh1DwsLjp/fxRwdtwR6S5WX6mi3dq1wToWvmbi2FrWIS6AyzmzM0jZN+iY+GPE3AT48iJ50PlouBK8a1os4XxFt8tJeAcNBIT1ojKJMqhgBmmNxsBYgXwmdyaVDHG1H7G/8K/sbFbxVKK2EaRB+HmDJB3pI+RSur1rfTS0Im7jStLj23ite4jiLypbmLJkXIAckrK+crWleAI49K540xZ2vL+m1wEXrHszyvvDEauXtkz6JJVWrWeR1EeKwFmDjdTYr/zT0SrxQn1UHb7EhiHgL9xnk5fzamVT8n0+qD7DQ+T48Deu+Fq7f5STBignBL/EJjYo6fN+SRp+lnW+m9k2NzDzjBb7XaEjnYhkk/U/mA/xqM1CcQeulY+4NZOqHyTxF4CDrmYNyODvI6/KgnI8PMr0/KDkShOxhNfdgDSG2TYTeMyPEyx+hBy4JEYGV0MuICZH4TejziZPoDoXkUDnXFFOIEKRCnwBWiHNeoR+FLMS2aqHngguxg13opciTyvgL+aYwlHkshpTUPZdIyhD3NUPPBWiIppuGvj1riB5kQ89EQEmmuyEnCA4lq+OQqZtDyXs65A7ZoTzgO+Sv9FB+mg8ZsT+UcQ5E1hEhytENkReUiHL2RWQaOaLkHBK5V5Moi65ELhQmyuI1kYWC6RbZE/FHoeh/9yjiQabokY6KGCVVdNb/lIrniqzcQ12Likocn0X+rRYF+UlFVG/RsyUXsZy66MvhRSxsL/oSfhHLC4y+GGHEMg6jL6cYsQCN0W/YKmW4ALX8aqhfM/oTdkZUChq9xtQQh19DX+ezUj2rkStwjRKL2MgKoY1y323kBehGWUVvZFuAo4TFcOQUjKOcRnJkNpijtMlz5CvpKO9QHTkFdpQ5tR05Ee8omREe2RbyKC85j5wH9SgyTCyICT56IvMRe7OPXuhjqUj4I6f5j3IYAckVK7uzQJA4bEF6fjhINKkI6QlQSOzAhfQHNCTm1CE9ltGSTiOSRzCR0tjTgg8s0jf3ItGJjPS5qJEok9cyL/xaXfEQzIkslemJwVRILUBFBM4JDyZwaCRYuMRd5vS6aGU/NIaJu/ZCXiVyNvYivATKjUCt0MJJDAkofkjyNQGwReQOSynpUiQc+vuZNJQ5U4tAUxl59dcMMo8BINfzzeCe9XPmGyCYtxDyAT6EqE4idO1VhDYfK5nkzJl2SB+hk60W3anIhI5EcLWZQWPnQ8cnqrenJx0XEje2z23L+Ou2BSTd+mrtrRk0nuywoJ/AGtcORft2gaoP3VmiHxM7odIIApAcKJHm47483DIeH/b3zJrYMkl1W4Vgb2G3BIlGkke4I8MT0JkoYNtg8NS+wmxAD2Cp+yz4bAERgV+alPrOBKdRE0gTwQXkQRlvNGWc4K8nWjLpolkMkDLtpNpuoUHEbye0P2xk2bQCX9MjCNNJL1v2vLgf1IHEAmv5Pz10Vnak92ocBOxsfWliRbYcFdc3jfbu0v7ywq+mON+eLIkZP7Bx3wHhXPPGJmmWdU5z0gnbEKAOQNTatuFTzrl+DfKNTB5CI+Phduop+LE3MX5ikBb8juSr6vGgJsUQ/MApDLwTW/ZSZYKTtuYUdzapTZ+w9PD7Ho9L0jVNBFDUqcjIuVH2/cthe4xws2p65FDdE17lYGUDYFlvEHkhYPhTwW11cynvFeLKON2df1ccOQXvwM0HDsmfcG1oAZIImHpxXxwTjCDOGA/C0RzXAJ/bpm4zdaSezP9A9sRzbS5srIcQdQ6JU6O3sCkepNTlMTSbnoPFsiq6nJIwm2wpJin59gUmXqJvDlgI55m5+64cjo8mIJQemSIjzjOb3YRSSPqgBTPCAQC3Rbm8fk7fhBaG5ZCQkpSKoejbzCkJiDfd8C/sne+7VdZBWFxmh+AtUQgYDQ/Yyw8VWid8cASQIKplOExXmh+OSP2JU2iU0Y0/jKsCDdQsx2upYsox/5VZFsPY+4r4IY1iuCYcuY+w/w1ygTYbw0uPs62dDD+JR13WYHAljgzYVNWBihTzpeiaGErPCgtMjSF+AwkAMjTe8CYuwawt8MbSHuIXJFN/mhVv7dKHmx3GY0VMoqV1JoN4AN20ABZaZxJjwFOac8RA3hBU6nzeLY/UIchQVWp1iufq2xRhOEBpQbiB5RgORDiZK4NeI4Z423tZggd8hPiL0T1JQ2V7uUdUkLf9lihVLvMWHk1Dx5PG6rVGwFd1ApwrukDjeBVaYNoYJblLfGxeDZujuy9TQ8YKXv1aToD38YIsenc3fAoHFpmAgOOJudujW7CXg114/NbJlqeM4Nf1bNKjG7DQ1r0vIDD7tZUCaw1MfhDTBlcmdQcjaXtg2JFlLKlPMEhtE2A0R+woqpkFUx2ibN/cFJZXYqRbvXw85HGREGzjAEgC8tVrD5Bt27pxbR03Zmk/OG3FxL6KomaiG426W2SQYXNL1HVvkqCI3Wg1g+dIixLlkm5tMvWsBRFWYa92ReC8KZg08cZGWmStee/Sbg1xsnsnt8YXuDmwWUQxCc0h3gTl7ejUXzsGA5FaZlAQqTEjtrG1dMwpBtO5kTIS+vaXaYuReois9m6DUrG8IjYaRspN3TBchuN83NsJzSI9KMvomCUb1r8UBXYwKaKhfDsiDP6xl8n9gn3gfq64AW1IJeApEAKxjNML7g/2PwJGjTFmfdm13MIAS6I6CuPxgUUBu31PG4lj6jg5BDRSOUsxfxqS31IhLcz3SnMYxIjzWi0/vcVBtosHJTxZYmXMzdkfQim4NG8bGELGMJwqYRibpePTpjlB7UAbeva+jfXWBGBtmBCNZLjwmZnWy1El3tx6qf2jzr+n15btz81/hL7P5nQMutv9SyhWfmhRTJA7Xg0+hrdlbqerZLv2oNxfIg8qcVx5rHuCVDskp65pXH5FNcZgv+gHtWBRjsEe0QsCy6nQzZsZQFRmjWqnXKYmLW58Te58c+MEYIhSFeETsHkUfu1qmWCfrmMwtEdkKD8lTAP+L6jAdDORFufM0SUgDCuX7IwC0OYdzrHRsV+c1FaOEAX9WXCrEi3oFjQL3xOt2VoGJXluF1vN+yZIEReSLD0Vy4c/cqSo+7zQEE7ppQZvs9+6YfBDNDBl8nHWMj0ald0MJDIWG/VtHyyy4cyyKtmsG2laDdKxfkUvdcYTQWbOr7OMSZRryJwYLYMWgiBk0SUwJJ7wGqZbutMGjqpDHI5KwRyiJF/NtSfPF3TrsIeuSiXf1f1ILqV0ECyYfor5oVvRe1fr6tWD3ugwUhweYSaKSZpcncJvrnL+yRe0jHFWGuA+RE4w91XDoVZDEad7GZGGvX8nj0aTFt+GS8WcXKYxhysVy/X0rxf3/If39LCEB66XnSLtui0DWnSjlsDoujgKJtw7ktdUvRM24ZwEVbyU4kohmWYKuoO5zEYUAQUUFM1Bz+Uhj1O/MGOBO/dTEU+hcT9kAEkDzYMKgVmD4Bn/BEsGDIcRXIu7iKQU2WERRc0OG3SvR+USq80T32UFEnlnFy3iI27b+NJMTuNWKl5kriYXnFIN2hRLQ8GQzzmZjoeztRgdljeCIYdEbj45J2WVmS51prBGX+IZQepWqdga+MSCLEdye0IDRCRlNqZmfd6gZTvW7VsmfryQuVwjvyYTsFOpgyhm+rfBef/29rt7PkQD/k+yzKHqnSMr5pA5AmOhlr/DvpQ7odg+5j3JHpbO2FxS8epfNqhDm5nWFMHCuGLBZEykftN/2xMPu8pIBY4AaUvfVk4MwDI1yozGm6FsUTVn4iYvfdLOwMTrtGv6p1y4MWOtLqiwgYhc8uOqosjjGiuj0hNYyDuFe6G1VIjyZ55oqqDdJHpe5ibTMjOm8NvJjjWm4nSuW0+ZYgg1oT/wGLv91GfIgafWKCmYyZWuwzS5/l1L1aiB5YaDt0FU2d3UoorEeF5FfGZG2jRiWDp2avAEtg7kBS0AqMKnkNP5rz/6ma/ZESbvj9BVxhwyi+Cu8/T26hJuQiopD61Bmazonipm98KzbHipv3wKJErGCYBft5UkqrMbEM85cMecEcv2gKjUoxusAZlq89O79B70rZ0EETzz1MVPzNhzexJR4yCgTjRigoQ9mA66hGkfolpRh4Mr1oD5FVFk74NTnF/MLWD4VyMTq0KQvJDLWh/tu+LMvXyh/EYDnZ4Y5nXNRUshYeq/0EO8dZf1o6eyO/qwEoCPmavLIgOGT/TVZPU0h7knf58h2bOT+frFCRzdJXt/bhJeL/aaIhdVlRNwWmOJnPmzGrXnErzvRfekQ0bW6y2H5Xokp9//1WSfATkElRRdWeRoHUnD5Sm5eh1xd34nHZy5gSDCu3efj1TQBWNSgJ0Jc4rWNsmrF7a37W7WXCzdRVUAy9ZqD0jZLISOhoDJ4txncufdiLtZLM3WJ0mNEJhdhanavkE9BITB+hBWBEIok6hdScnd/R2HExqy+BoQ8D13aGMWjB7rH5ldKr31TX8Fj6rK7P3bRQAkzDdyTyPoJIIRRgveqF1U8gOpAldf7IzcVB64JaEUEE0t+BfA8nQDu+vsVwC95rIPudFbzcwpRSUwXS1YbIAYVscrZppiw0H47pb3y3tlMiBjxJQ/EspmHycIDfNbS8bN1LixEtfFuSsW5QTyOwAxi67BsufEH2Dr0WHMI6GhahgNmkpcYEJDf4YlmHhuR3eV36DQOlPJirl3a9f25SzPTNtEhr3yQK3mRYhG5rKIeNhEVF0GvSSQfli9FxyKruqK9NqZ95kVErbcmZJUtPtvQq8vsUOcAhGuP8aRH0qUQF3b+QU7lIO4Ysoa5Llg/Bho6nJqef87oWV2E7WFDP7RH3UtVKGnapt+hGGu75L5RlQtNBr6glixbgUUkr8tTC0u9Wt90QoPg7J4/2tKkAh6YCFLJvEvirwDc7c1qi/t8B30aj4RVI/dRoMa8DePm/khK4No68ZP3OhOp527r1VXe1l3+tM9SA5PFdJU3JkHSDGUGxIqUzHl+/kRDsTsfR598Qzweu7dHVyTewGIdMBhiPCzLrpqmP7NCMmekAP4ZKF2PPODz6s0YC4oO9eh70Kpp5VSjccvSuxtKoBLiG3oSa6AnJ/7wuFNDJCTSMY0QLGEiZXBghA+w5O0VUypCrSKiIJ5dpRgnUEkArNS4Uqgjo3UzQiyxrxPpOmgGFs9ofcET6deBPayUMf1bm+AtNaNCgKJSibEp2k11SbQEkla7QsYW/tQcX6xtgeYgClmQ3MuVv+8xpp9lsgb5QFVzIJ61E7AqIriqdMcvw7k3p8wuZHZC4yEODwIFudVGMrX/LulGcmEsNtaC2w3DRq+2fSK+sHpsgC53an7sYe7nExvCE6Lw+m2z+ldkknHKQnT6Ty5SNHl1Mj9zMJM9yX9EmzpzKf48Qf69P5g0YgpwUMiHk2Gq9ZnXU1J7xUyWKygpGqMkBRgqed6tLNk2sdsi+UuiAlA+hfI7Z1Vrh8GGzQFTI4ASkrMDTcwizgHwMBAFwYGBtpZNCSlpG6RKw35ZKeQQeJ5Ht178V9HX1F9jMZnBakMauzuECRJ2mBhCQIn0QDRAMkAnrG4vGKwViWFfmFmsHKuKSUmLBQVf88pbQpIk8ACY6T4hNWK2nL5TV+EYHG85kskVeUXrScCflDZGaWVWiydQpcwhikwwacbdsWdzio1D5GUr27U2um6ZNcetq9hjjTZTGe07FYwFlhxrC3pgv02/i5X8Xz+F4bAODckCFvjxAelOaVNzXbbLui9z01DWCaz4LEIwtPA4b+28MMaMSJubiIPkwB/bzEpjUX9QoGFARK1EelvJhMiMg4AdAWPw2CTdq8rorWd9jSLL8MqGFEFBiTSlk1NyrLKYWY28ICs4wj86/VHIjDy2Q78xszMzMzMTJkxZmZm5k78WI/o3dOVMgFhzCTFMeNINCAcDoGjFT9MEqnjqtC3KGPVoI0E4z5KB6nPzsV25YR4ISgANaHsBgjg+qVmNu2KzIXWKJ6AcNAU+MvCwHayIUr9eZxyoE76G9WC2XWMfM4oJdwVBH/CCBN3rpcU3OEQCBx9bMlY1KsULAHB2t/VMoMnz9xnuNMZE1f1oCNaKk9XFeh8OUj8+Zwz4V5mkwTQXQVrUCoUJD5+EZM+R7ud/o915ypmhZ1+9cDi3YXN6dQKpj099PvF1NAwcd0uaZMwCNGrXT42lUL/giEwZJAq3p0vRvq0ClK/8+0774mgT7sbZ3vQQhPJpdPeOiZSx03Nt+ek62lud3d3d3ct9tC2sMThmmstMWjGhzJ3kU75XuMt0u0j57/nTKdTisVajjalF8GZTZFVkzUzwVgam2FpqF22ev+6ouwK94vXX6am7ah7WrI7q/SN9ItWCr9HgOoFCU523Ei9fa7GYhb7wlQFBbFBAe85JpqtMBkwMF+65hxJR0AmyXMjGuw2Av2Z2kiSToCy+8gRwY/0Pe8YPZy7js9t/97CkIniiqK5ZFgYmfm84X5rKdGV3txltiioSUYysR5ed7OTdyOfx8P1Yz8UFwyFH975aiMm2nnMLsfBWnHnpYUEBcXUJcSzQ1XBVNg5vNIUAcELew6Qa09hlXSu/+YXdGZ2IKEwl4sEB1+DdSPdiDrsNF3ORTuKu5MX09ghNnjDFmD3fsre52DdUGjfxsHL67wc/dUeyjrWM26FT6yTunqpaGZGkiQdw1AQEAoPSsXxwDgSkidCP/n1ogAY7Y43+xqBXTl9hLguWgiSvjJoEm0/37rbACY2BBXSpxRuoAo7fJZmeSPn1cgPtBE2lGvc4viTO4jddG5juH1u9L+dDyLRrs3/4wf935VCfsdmkAWAXPFGACgXQko71/LRTzeq97rmsLSMChP6rTugKxvwmscnLQj0tCDqF90yCEFI/neMkqQKpPrbXKAduQ5+k+BnlvwoJb4FDDZbsssF93oCAHcXfIWF7H6fTISZQZ5Raaz5GIJgr+xmTMLQfOZc8z0ORswGoRxQXghh3gKUHdLZ3RO6rhuA5g7sWoHM7Oi50eMCisky/mnikBxFmT4SvxLWZAihLDe+Ogyrt268qXHXfM6SKrEeKVVDlXbe/6hmjsaRfTYx5UXby6wNNiw8wBdshXRbyQEB4mSuTB/cBCmm6eGjNGfVIi6SmKaBrF2sqzkAcZQECIcjk75k6HLM0K/WGegv2g2u2UipZpp2Kvtx2B3EEDBcv/96vBNUBz8TIDToIIikM1Rypp3UBgAZTkA65QP2wxlx7xFOZPzJJGfLL85mn6Ri9SxPgIrn1wu7/3tx++n0KqQMqTC0eTFtX02ZQWRemAOofP5US6GjE39DTMTVduFC1ztm8gCFl7yc2Pi4aAQwXsd+7iCe3gjZ5QsXnzAAg3XCP511lM7C1DsnL5BghKd0H4s/Eap75t4DaR6lkYDGoSQwOn9FyBUvFBCvE0tRCzeS3HDHCkD5ygobbZOdr4VgFLyFuzfWnR07DjV6bv700GwY8E65PqYu5oyEXDBChFFrwsN0LNvBA1+qQ1TPxXcD6cK5cL+uKUhHDGsoKoaxojkyhTgLNJWLOBj+S+EyV8Se3L3UTYD1r8bztiY8RwjuTuErUBs1+MivIF4u4cRxIYpBlP0/xieL3Remke2s4eNJJXy7d0mAfh4jDua7/SUA2yo/QD1jxxEnAp7DMg3NkEqf30guznuSNQWPXT/08Cw8iXk7sfJo5FYysvopGMF7qmRVo1eSwXrtPQAY22BmHCQz7jYO8QRT7+wE21KgE6zIls0D9XCCx/11E4xc/UmFSgc5eBK07enmWquxS/DMOJA5b49djxcbJ9ZK9ripAyIT+JDAz002owE6rofET3RLXciE0BrpYIzZJi9oRmM4aau1ZLcoslPD6Ns+3xSikqg3UbiAPY8GfqhgmFaQLA86IY+IpNFUuHNL37UCngYtt1JQPJ6Fn0O1KMVHBHVBKQzQGsMuyWJtu2HSoy1fKHOgqvo5jnZMMsZvanjxKJF6antg4/29rkpFcZTDb458ZgEUKfNdsTCsXsFWVRbr5eu7cJCkh4rW8FC9/I/SkR21aNLMEgpSXW7NjlK27yufk7OtF0DbMhSSG45aiOZPvepTAKxa7N+j4RXNKOzh7EvxXNi60gvpIAGcO/P75L+3wjh6xOHvAV3+Tw3AOuE8qymQRRAIQsEDWqhz+IzrtLpmtOMvHZeKz659dmT12SWIlHmmSsizE+XHx/n0lG0RiSsNfgBmOznjrBixRrFhj4YtuS4bt7HQ74W+uXH1q/4Dn7yIa508BWKgIQpTkq8u14fTzYejtSSzErJsKZhjTtOJPhh5Z4BbQrU+m0zTX+sfvP8J+zvBWlq6+S4fCoQLbOGBYHxiQ9Ldto6wJkeJqCx3YLqHt6nNt1J8mYBJn5G0Ds8mlSwcbQo/3I1G2cjTjDvybr9cthlhDHythIZv2FcQBwNke17n5L0YtHV8WN9PCmzYsHWTXzU1RfPRpFywaSswuVwNfD2LHfs1b4HcSP/2B+0l2H/L8qcONcsVVkr34hnuzMYQqdCNiuk492+cpEqNnaGeUL/WszPkVrFPxmmWGc96yLEzQsdftcXO7B3jlPaJea0wtaJ74wXu3v8e0uyncGi/1jS/0Jq5jQXpIpgViQGMu9AXGMm72sLRcbv86r4NqmhGr1ML5XHrT/8cARV1M623vc8jxQ0A5PFkcxEpBL1FguZR7a8dQkMhzr1lAH8wto4cUzBIxqGlGaos47g+mFz08kOtKcA+MIVGTZgsc5szaa9SkHfADnVHvP6Awy6clTGBG2oLCx8jgW0AbaYvO0/3TmHq1ga6tvC5saBqIxW0GgVsWy+9wBIW5e7S+xyvUBZhPnMoWT5CAYMnD+ykP3gPCG+hfaCVF/4VpfwywZ/EVwaNR9GStL1EYa8R7VtjfG2kqqCE1GGp0e5Yn4gwaJyKRr/k0j5XgEVQyWSn/QQvVbSKrJQ6KssgOKVDYMnd9lvyiboZjnI8AwpETyunuUEilostCMT2X9cvAtBiavr9PuKQYKLWlGAoTTjKZNoWSOmO/gGWGzAhBA41bTB2IzCpoWFjW/sBUvtvOCuAE7FxKeWNVNdPePl4B50fZy30MsfU7CPy2/eLw4pRhwKqSJcMFYAUFojk6yeol+MFGt8q7Sf1lv6OU7x+Kdcr2sbG3HnI2IRIn3NbrBesY7K2bAdhVmf/yt5SmpuQTygU86yAXKOBcVGCjjObONnUFaT4Xyg+K7TA/IwvGD5mQXZNeU+bug6PWa1q1YDhGDmw8cGAF2wVJhkQWYDxvVCUNbTiObDA+BBSiL2hwCHA4szVO/9glKx1If6qK+jPRVHcNn7yzmSGTJcJIav1WU/OB7rTVIKdP1kcRvN4EUI9gjtfSJrFDKpl9gKyBMLFlBKFiX2aPE+mEgCqAFvjBwTPXGAyK0giyY7leVCX4iTEWWTKklOYuN3CbStLE3Q1Pz3k+6IekoxylQuHbS0RGN0q+hN07Bb9uKlBRGPCIxerTRz7CGKIz9YzOuzmUnurAt6nEfbC4PnH7qIJM2maJzCMoay16XN927PQhjyzEI53luUvd9nMQn8ywiB/tQIza6C83lD8nTSV2VH01yP8DXzFD0ypneqpJIzwia8bs8KJMbtSVzFL/dQealpDKkAnQTRqDJkU/YeTb9m8t8tje1mmA7TmZdGrleFl/SZIbJcNMvOiLms4vjoll1XsEotU3WKXw7YsEfxa2y9TXnB2TH56lh2kKPlMljWBCPBV/Kqw+KoOTTBg2VAjpF5Zsy5MV1ZI+wTcyvobJ2ll7/EBTKwsUwJiV1msKK/KehbFR5VlkvcvlQ0Uz4vK8rPkp2yaZXPKVtE4rERV/DWqPb+LchGVpTPQp+xk0yZOWZtHn2XKqk2zW8p6Ud9IKDELA+p5lDXmQ5mIKiloFjAHpAx1grkuMBwtPHQJNQQMHux1sjXYHz+LSiZ5fbbNy4pOzsIog4mjuCtt9mPyy3JacFsW6XzMkonFH7tIRtG8Xyk4qPkFSG5XtrDicQYbIVXUOSODGibEUTCzLeCEdritGtTx/Dlvp07e/OSYBg0gZWfwbCoZX2MWBzx6+I2au+mZMiQDXy8YC6EIXdi8SWiTFxbXbhYG391DIAJZ3fAC2RE53JEFKt1LJxSa4nCrT+BHc1m4NS5ivkotGlONWthKt+X7b/0KdAFxZq0J61YOtrLloocLBvQq13PIEbVJu0sPgtU3FPGdjmgnBKakdTNrlQncbSlIrjHeMDRDApBcezDOsc7mB2au7Mo6iOzpdf/7jPYlsxSrY4VeK5soyjh8f99H09ak3K6f/JiLq7qk1ng6xJb1hDsmw9nQIPpCXjBV0L16ZlnNBPbsobBpQ79oD5vW6IHYbFvHq0m9/OLzl+khNM/pBJ3j+81FFSwdr7CCxggYNt5LXXhg1ZbUdruv4ygMfzi25jtDVLHTxiduOLU+0zgzEU0qKInQwiCIII1dtuNJMVBmXI32qN8lBTb8XZ5s4r6ysZAPl4xrRAHJXqBuQD+D0+zsAkHvsne+mDLX3B22vKyL8TaXHXI2I502crr146CqqOR4LccrDxIsU3FCuU7VKXvZoRkJfiy0DrQvgp3oW86n3qx7VAKUxJD6j45BBGNkCGROch9JzIX1nMMDNArKHtzgptfg0hubtSMKxZci7FEFCOfFQS/HYuPKkhu1urRR1e0iu2MPn4kEpB77jZQVOPENII5dq0VH+TSE6McgSEMjDPEN3ToGIEUugqAsSpkTLY2zfBhFBjGfU5aV5x2ya1oSZ5kztBzEqoDx90RL0v7DixFyBVsSEymPqhs646laajBFhXUh0EkgrpAQWItkWlQJXz+mtTGaMWs+dccpjWjF9oCwMLN5dHmKau8QeLNmUteim9H1ZJFQVpixWkEnv8WVxY+9ygWQ7dTQFrnD2pdqJh44XSxPqsWAhfo8UwTmHsZST0gdkJhCVJBydp/Ym69kHk+e19QpdkOh6JvQwlqH7URIB2wKNksTb7qHZyBSvDYHrL1uPPgtvAR0l8FSp9HVjlROwS7AsASi700r2cDhx/LmPQJ1LCwX38kiBUAQStcU6O0goU8gfGNbL4YS2N0Udpb+Un5wLNQuH3+0qiaod2Ttxd3HAzyg/wYd9FQ/pENuebth+ylrWy1c2XesEEtw0F6h4IUEEjjpwqR3QXamkfGciOf2UQy9RjhJOSdfV89GTnkTAj/K46PpuoECkHB5FhzUibEqa+IRBUATjGXHQYxGRCcHzwQOxi1Kdmim3piMx8VOIAbnhogaMeCyCxCpb0BZbwCnpAU0HsAl146yEo4kVeWeV1rJbYFxMSuZI8D+tX9o2H5vVou15WLLF8Ucqw/0sYEEIb1eob3Be/CNiFddYjHcL7z408RZEEKPinqvsodzDtcqFNouSABX+/i/h50nZ5vOZtvql3GLb5PSiWk1Y+r8CU/Qn1BlInIbkSH8uHquD1xAtL0ICy0/bqX/598l8pJuLAMUzihFH/UwnB72QKGiocdTb/kPXltKkCRRWJG2aoPhbe4KF16SS71KAF3EdOaXiA+tPgCG3lkxUG3TGDAzMzMzM0vMFJGFzO5+o8Y0z1gLaZcDIIcBjA9c7IndQbThDLUTb6A9ZkIs+FMAVwA9AKqqqnpFQhCaGcMAb5lm02GRkjQ3izbDcrtxZmcPOPeTwY7nKT0Wpcrk5CPlciyXAWNWXDmvdUce2dkppRWR2zSRkLL7NrItw5LMBCRZCt6UmvYOFQ8QFHlXRpNIRPIWDRcfYDYt091i9FyRyo1DJZyYBFERm6eSstFp6lSV0pWC2CisjDw8HGfBStj2ZTup48LMZShKQyFFVZCPEI1LakSrAR1UaTE6DGIa//////////////////8/dBvY5qLnomaCFtwIMTO4GeDMWYezrBWIPhxKRdVBl/RchGaCNJeZE0e66CAxBQaWymVtwUBVVQQD1yPAPMu7DLiDd3BxBe/CGFiYy2UEBp1I0EFSssQb0mebi23ciVFhdDqVwgKU8DZ9sVT+/////////////4J0rIJcc6YgSZbt8iGEYTiOxCiQURQ5KB/+Y+fQI9hv81U/gZ5XrY3F8oGsZiHHcEp1EFGqI73UoovWmH9GJUKzkNUVRBbvTIgXMyZKVEKzFWeeGmdpssxTdMaVkR/bR5LmKEezR47bogaEclvhK5cI26NZIlLw7T6LC+teW7cKOk2OgJoy8URhKqKFwjEiavxo12biKZMPy1eW/WuIc6d4O/TFEGw7ju+w4mH0+bwIEQl3ssizrjoALsnA0MB4dga05lvrnWvX+bf+X5M0QyFq0FACb9NQXP9aRGsogSNtGOcSzP4KunzUbMlXrGWcfplTRP9fphdRguUcUdzvikAkSnDhJIojhiVKHxATRUNiy9wmSmMfFB1PFEe22sKgKBknEEEMySOTplheYQ9AeV5RLEoBllzpl1KOF2BibP4HabHnQrnrc+wgXBjxD8IW4UUvOJAkImlY4z3wIOCbsaKa2KYm7HPsiZbyt5gvJ4ISuqb+nnCj+75t/SgyRuD9oF8FipPb+39p2ZNlv4pdsIQni6WKrsJSLHXf/kpCmfFKQibmSpyoP7q3jE5q9ppOdJUKCrAA0wD6Eg3lKKLhOH1ocBWUTkx3pJOwjk44YAUeA1mUXlr9GqzIeG3ObZdYLpBbEL1r0xdsJW+ldirc2FuHIn8oW8czGmOSOCnHcuTXOpBxHD4tOS2U77mAiUblvLbE/JLhuMRFpXUKbBw8lyL4XyegB3NoGFOzxK9/QPf7J4+ohORi0RXGlLyx0alZ2xCWCaCc+kmu+fD7Vep07uoJYtKmmCuBlqUzvVhXhGIQRRZXHWNdUtiVpl2bITusXCQijjABqf5w7+8yOe0ItfqIwdB0qxU5paYB7ZOAJiDuTayMy4hgShGvoBc3CFJkIvTYyqn6rkw2UCOx9BNUq2ZOZM1RbZuLfwL6jiyzaPr4LVC3GSJ33wsfYvXEe0q2oSfdboX9KHmEuuQPCxpiMq4D4mL0ewIz5ZgaLl5rvU2xZ9zvs1uBDa+fQN/71c90bSYRfhQRd6NfEAiAXp6LC3i/t6KKR0rn92qTAuONwBssAklAV0gg3iKMx6X65vIweO4ACS+WrphLKQyx1NwFFkiW+geZ4iK5doRIorD5gcT7Mypr+hSBEmS40AnA/cIn7hj6gXAUUSTDr442u1MYEtN5ss6qhczDPPRj+GN6o9t/CuJprUXv/J9duf01xGAc734QIoGGRejy3+Y8rUUtUNcbcc6YDBzFbJ/TAYhAfsKblLdG5slNJ+Fqs5o5M5M9NTBnVIxCjssjStd6rUJZC1m8+k4iAlEkbecOC20dgEatfC5t+dL9dbFLfEneiwXQDyi8OGNYQ4idIc0YW5YA+U7gtKUciUOrcEmXfxbffzeyhV43Et4YA5Zun9SpmFp0I06Ivqe9GCCf5tJRVaS5W6UTO2ikbC/VijcAP677lafZtIC+Tczw2eoX4ZWTln+9TAr1uADi1YsmWXfKkgM64kz7k6L1ABFgWFb06tq8njx3KFa9dG9mNLuhctQLB1oQC8Hb3lU8JQJNypUugIljJdOiImiGX2+HyUEOIGsCUztxZORXKGL4H7HsRy/Ph98R7uG9lwt+Yqm8g9cfYBHxjKUT11rxuZc04Y+YzXwmjxVwz5fcLvCLYFtxgoZ/AUCdYDoEWYt7CUAwk7lQ+kMn5EBse4HVsYux+EH0JHqwU2Tm3w+eYgeeAtfizC65U9iahNI9v4LWKVbTkdFTazPz7R7G0dgf49WhGeg+2HpEPkKwvqD8KEh+YxT76E9AvDQEzdNSuQDahGYjml6neFUb9gpFb5GwHaOYklzWE4BIiBxtBZRV4OikRjbwZdvbow+VDFqsdZTQOJHKFVKCRpK+rFaJ74dIJRRkKMVStiUad0Zfu8jKi1k+H0XKolu361BO5mUf2yW2ndIJZZ8UFuPpxSOMBcv2hLsaDNBriK/Le849y/4iuZDqR1StG9ZGjJjONUFZkaU0ooX4pGKQkm7cZ0dJvBojUqHRuQA7ECXgWf8+P58b6BWt+TTTSwuNXa2ZfMYk06ko/sHonAAmjmdmJKWqUbFY9oIGeF8nGkahic6rfnsdYsuLs9I1iZ8onSsjGLkkuMT6u4oAk/l+7ykxfGKIEcngYC26kRmHXI8wXdQ5ymQsvR2USCdfZb9TnZAj774sjk/dX+WxukIC");
