"""Bad models of every kind: wrong numbers, wrong structure, amplification, damaged files. All of them are made here.

    python bench/hostile_corpus.py FOLDER

Every file is a function of nothing but this script. `files()` yields names and contents; the first name of a tuple is the
model to be loaded, the others lie beside it.
"""

import random
import struct
import sys
import zlib
from pathlib import Path

MJCF = """<mujoco model="m"><compiler{compiler}/><option{option}/>
<asset><mesh name="t"{mesh}/>{hfield}</asset><worldbody>
<geom name="floor" type="plane" size="1 1 1"/>
<body name="a" pos="0 0 1"{body}><joint name="j" type="hinge"{joint}/>{inertial}<geom name="g" type="box"{geom}/><site name="s"/>
<body name="b" pos="0 0 -0.5"><joint name="k" type="slide"/><geom name="f" type="mesh" mesh="t"/></body></body>
</worldbody><contact><pair geom1="floor" geom2="g"{pair}/></contact><tendon><fixed name="r"{tendon}><joint joint="j"{coef}/></fixed></tendon>
<equality><connect body1="a" body2="b"{connect}/></equality><actuator><position joint="j"{actuator}/></actuator>
<sensor><user{sensor}/></sensor><keyframe><key name="home"{key}/></keyframe></mujoco>
"""
# what a slot holds in a good file
GOOD = {
    "compiler": "",
    "option": "",
    "mesh": ' vertex="0 0 0 1 0 0 0 1 0 0 0 1"',
    "hfield": ' nrow="2" ncol="2"',
    "body": "",
    "joint": "",
    "inertial": "",
    "geom": ' size="0.1 0.1 0.1"',
    "pair": "",
    "tendon": "",
    "coef": ' coef="1"',
    "connect": ' anchor="0 0 0" active="false"',
    "actuator": ' kp="1"',
    "sensor": ' dim="1"',
    "key": "",
}
INERTIAL = '<inertial pos="0 0 0" mass="{0}" diaginertia="{1}"/>'
# slot, attribute, how a value becomes a whole attribute
NUMBERS = [
    ("option", "timestep", "{}"),
    ("option", "gravity", "0 0 {}"),
    ("mesh", "vertex", "0 0 0 1 0 0 0 1 0 0 0 {}"),
    ("hfield", "size", "1 1 {} 1"),
    ("body", "pos", "0 0 {}"),
    ("body", "quat", "1 0 0 {}"),
    ("body", "gravcomp", "{}"),
    ("joint", "axis", "0 0 {}"),
    ("joint", "range", "-1 {}"),
    ("joint", "damping", "{}"),
    ("joint", "stiffness", "{}"),
    ("joint", "armature", "{}"),
    ("joint", "frictionloss", "{}"),
    ("joint", "ref", "{}"),
    ("geom", "size", "0.1 0.1 {}"),
    ("geom", "mass", "{}"),
    ("geom", "density", "{}"),
    ("geom", "friction", "{}"),
    ("pair", "friction", "{}"),
    ("tendon", "stiffness", "{}"),
    ("tendon", "springlength", "{}"),
    ("coef", "coef", "{}"),
    ("connect", "anchor", "0 0 {}"),
    ("actuator", "kp", "{}"),
    ("actuator", "gear", "{}"),
    ("actuator", "ctrlrange", "0 {}"),
    ("sensor", "dim", "{}"),
    ("key", "qpos", "0 {}"),
    ("key", "qvel", "0 {}"),
    ("inertial", "mass", "{}"),
]
VALUES = {"nan": "nan", "inf": "inf", "minus": "-1", "huge": "1e308", "text": "one"}
URDF = """<robot name="r"><link name="a"><inertial><mass value="{mass}"/><inertia ixx="{ixx}" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
</link><link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="{type}"><parent link="{parent}"/><child link="{child}"/><origin xyz="0 0 {z}" rpy="0 0 0"/><axis xyz="0 0 {axis}"/>
<limit lower="{lower}" upper="1" effort="1" velocity="1"/></joint></robot>
"""
URDF_GOOD = {"mass": "1", "ixx": "1", "type": "revolute", "parent": "a", "child": "b", "z": "1", "axis": "1", "lower": "-1"}


def mjcf(hfield="", **slots):
    # only where it is asked for: Pinocchio refuses every file with one
    field = f'<hfield name="h"{hfield}/>' if hfield else ""
    return MJCF.format(**{**GOOD, **slots, "hfield": field})


def world(text):
    return f'<mujoco><worldbody>{text}</worldbody></mujoco>'


def with_mesh(name):
    return f'<mujoco><asset><mesh name="m" file="{name}"/></asset><worldbody><body><freejoint/><geom type="mesh" mesh="m"/></body></worldbody></mujoco>'


def wrong_numbers():
    for slot, attribute, form in NUMBERS:
        for word, value in VALUES.items():
            if slot == "inertial":
                text = INERTIAL.format(value, "1 1 1")
            else:
                kept = GOOD[slot] if f" {attribute}=" not in GOOD[slot] else ""
                text = f'{kept} {attribute}="{form.format(value)}"'
            yield (f"number-{slot}-{attribute}-{word}.xml", mjcf(**{slot: text}))


def wrong_inertias():
    for word, values in {
        "triangle": "1 1 9",
        "negative": "-1 -1 -1",
        "zero": "0 0 0",
        "tiny": "1e-320 1e-320 1e-320",
        "short": "1 1",
    }.items():
        yield (f"inertia-{word}.xml", mjcf(inertial=INERTIAL.format("1", values)))
    indefinite = '<inertial pos="0 0 0" mass="1" fullinertia="1 1 1 5 5 5"/>'
    yield ("inertia-indefinite.xml", mjcf(inertial=indefinite))
    yield ("inertia-massless.xml", world('<body><joint/><body><joint/></body></body>'))


def wrong_structure():
    texts = {
        "empty": "",
        "blank": "   \n",
        "no-xml": "hello",
        "cut": mjcf()[:300],
        "open": "<mujoco><worldbody>",
        "two-roots": "<mujoco/><mujoco/>",
        "other-root": "<sdf/>",
        "nul": "<mujoco>\0</mujoco>",
        "bom-only": "\ufeff",
        "unknown-element": world("<boddy/>"),
        "unknown-attribute": world('<body poss="1"/>'),
        "same-body": world('<body name="x"><joint/><geom size="1"/></body><body name="x"><joint/><geom size="1"/></body>'),
        "same-joint": world('<body><joint name="x"/><joint name="x" axis="1 0 0"/><geom size="1"/></body>'),
        "same-geom": world('<geom name="x" size="1"/><geom name="x" size="1"/>'),
        "free-inside": world('<body><joint/><geom size="1"/><body><freejoint/><geom size="1"/></body></body>'),
        "free-and-hinge": world("<body><freejoint/><joint/><geom size='1'/></body>"),
        "no-mesh": world('<geom type="mesh" mesh="nowhere"/>'),
        "no-class": world('<body childclass="nowhere"><geom size="1"/></body>'),
        "no-file": '<mujoco><include file="nowhere.xml"/></mujoco>',
        "quote": '<mujoco model="a"b"/>',
        "attribute-twice": '<mujoco model="a" model="b"/>',
        "long-name": world(f'<body name="{"x" * 1_000_000}"><joint/><geom size="1"/></body>'),
        "world-named": world('<body name="world"><joint/><geom size="1"/></body>'),
        "mocap-inside": world('<body><joint/><geom size="1"/><body mocap="true"><geom size="1"/></body></body>'),
        "ball-and-three": world('<body><joint type="ball"/><joint/><joint axis="1 0 0"/><geom size="1"/></body>'),
        "weld-itself": world('<body name="a"><joint/><geom size="1"/></body>').replace(
            "</mujoco>", '<equality><weld body1="a" body2="a"/></equality></mujoco>'
        ),
        "key-short": mjcf(key=' qpos="1"'),
        "key-zero-quat": world('<body><freejoint/><geom size="1"/></body>').replace(
            "</mujoco>", '<keyframe><key qpos="0 0 0 0 0 0 0"/></keyframe></mujoco>'
        ),
        "tendon-empty": mjcf().replace('<joint joint="j" coef="1"/>', ""),
        "slider-crank": mjcf(actuator=' kp="1" cranksite="s" slidersite="s" cranklength="0"').replace('joint="j" kp', "kp"),
        "class-cycle": '<mujoco><default><default class="a"><default class="a"/></default></default></mujoco>',
    }
    for word, text in texts.items():
        yield (f"structure-{word}.xml", text)
    yield ("structure-latin1.xml", "<mujoco model='é'/>".encode("latin1"))
    yield ("structure-utf16.xml", "<mujoco/>".encode("utf16"))
    yield ("include-itself.xml", '<mujoco><include file="include-itself.xml"/></mujoco>')
    yield ("include-two.xml", '<mujoco><include file="include-two-b.xml"/></mujoco>', "include-two-b.xml",
           '<mujoco><include file="include-two.xml"/></mujoco>')
    yield ("attach-itself.xml", '<mujoco><asset><model name="m" file="attach-itself.xml"/></asset><worldbody><body><joint/><geom size="1"/>'
           '<attach model="m" prefix="p"/></body></worldbody></mujoco>')


def amplification():
    entities = "".join(f'<!ENTITY e{k} "{f"&e{k - 1};" * 10 if k else "x"}">' for k in range(9))
    texts = {
        "entities": f'<!DOCTYPE m [{entities}]><mujoco model="&e8;"/>',
        "external-entity": '<!DOCTYPE m [<!ENTITY e SYSTEM "file:///etc/passwd">]><mujoco model="&e;"/>',
        "replicate-1e9": world('<replicate count="1000000000" offset="0 0 1"><geom size="0.1"/></replicate>'),
        "replicate-nested": world('<replicate count="300"><replicate count="300"><replicate count="300"><geom size="0.1"/></replicate></replicate></replicate>'),
        "replicate-5000-free": world('<replicate count="5000" offset="1 0 0"><body><freejoint/><geom size="0.1"/></body></replicate>'),
        "hfield-2e20": mjcf(hfield=' nrow="1048575" ncol="1048575" size="1 1 1 1"'),
        "hfield-60000": mjcf(hfield=' nrow="60000" ncol="60000" size="1 1 1 1"'),
        "sensor-1e9": mjcf(sensor=' dim="1000000000"'),
        "mesh-builtin": mjcf(mesh=' builtin="supersphere" params="1000000 1 1"'),
        "attributes-1e5": f'<mujoco><worldbody><body {" ".join(f"a{k}={chr(34)}1{chr(34)}" for k in range(100_000))}/></worldbody></mujoco>',
        "nested-20000": world("<body>" * 20_000 + "</body>" * 20_000),
        "nested-1e6": world("<body>" * 1_000_000 + "</body>" * 1_000_000),
        "chain-3000": world('<body pos="0 0 0.1"><joint/><geom size="0.01"/>' * 3_000 + "</body>" * 3_000),
        "geoms-300000": world('<body pos="0 0 1"><freejoint/><geom size="0.1"/></body>' + '<geom size="0.1"/>' * 300_000),
        "pile-40": world('<geom type="plane" size="1 1 1"/>' + '<body pos="0 0 0.1"><freejoint/><geom type="box" size="0.1 0.1 0.1"/></body>' * 40),
        "pile-400": world('<geom type="plane" size="1 1 1"/>' + '<body pos="0 0 0.1"><freejoint/><geom type="box" size="0.1 0.1 0.1"/></body>' * 400),
        "defaults-deep": "<mujoco>" + '<default class="{}">' * 0 + "".join(f'<default class="c{k}">' for k in range(5_000)) + "</default>" * 5_000 + "</mujoco>",
        "vertices-1e6": mjcf(mesh=f' vertex="{"0 0 0 1 0 0 0 1 0 0 0 1 " * 250_000}"'),
    }
    for word, text in texts.items():
        yield (f"amplify-{word}.xml", text)
    links = "".join(f'<link name="l{k}"/>' for k in range(20_000))
    joints = "".join(f'<joint name="j{k}" type="revolute"><parent link="l{k}"/><child link="l{k + 1}"/></joint>' for k in range(19_999))
    yield ("amplify-chain-20000.urdf", f'<robot name="r">{links}{joints}</robot>')
    yield ("amplify-links-20000.urdf", f'<robot name="r">{links}</robot>')


def wrong_urdf():
    for slot, values in {
        "mass": ["nan", "-1", "0", "1e308", "one"],
        "ixx": ["nan", "-1", "0", "1e308"],
        "type": ["screw", "floating", ""],
        "parent": ["b", "nowhere", ""],
        "child": ["a", "nowhere"],
        "z": ["nan", "inf", "1e308", "1 1"],
        "axis": ["0", "nan", "1e308"],
        "lower": ["2", "nan", "inf"],
    }.items():
        for k, value in enumerate(values):
            yield (f"urdf-{slot}-{k}.urdf", URDF.format(**{**URDF_GOOD, slot: value}))
    yield ("urdf-empty.urdf", '<robot name="r"/>')
    yield ("urdf-mimic-itself.urdf", URDF.format(**URDF_GOOD).replace("<axis", '<mimic joint="j"/><axis'))
    two = '<joint name="i" type="fixed"><parent link="b"/><child link="a"/></joint></robot>'
    yield ("urdf-cycle.urdf", URDF.format(**URDF_GOOD).replace("</robot>", two))
    yield ("urdf-two-parents.urdf", URDF.format(**URDF_GOOD).replace("</robot>", two.replace('"b"/><child link="a"', '"a"/><child link="b"')))


def stl(count, triangles=1, number=0.0):
    corners = struct.pack("<12f", 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, number)
    return b"\0" * 80 + struct.pack("<I", count) + (corners + b"\0\0") * triangles


def png(width, height, data):
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(data, 9)) + chunk(b"IEND", b"")


def gltf_amplified():
    # one mesh that thousands of nodes show
    nodes = ",".join('{"mesh":0}' for _ in range(40_000))
    text = '{"scene":0,"scenes":[{"nodes":[%s]}],"nodes":[%s],"meshes":[{"primitives":[{"attributes":{"POSITION":0}}]}],' % (
        ",".join(map(str, range(40_000))),
        nodes,
    )
    numbers = "AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA"
    return text + (
        '"bufferViews":[{"buffer":0,"byteLength":36}],"accessors":[{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3"}],'
        f'"buffers":[{{"byteLength":36,"uri":"data:application/octet-stream;base64,{numbers}"}}]}}'
    )


def wrong_meshes():
    corners = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
    faces = "f 1 2 3\nf 1 2 4\nf 1 3 4\nf 2 3 4\n"
    meshes = {
        "empty.stl": b"",
        "cut.stl": stl(100),
        "count-4e9.stl": stl(0xFFFFFFFF),
        "flat.stl": stl(1),
        "nan.stl": stl(4, 4, float("nan")),
        "huge.stl": stl(4, 4, 3e38),
        "text.stl": b"solid\nfacet normal 0 0\nendsolid",
        "empty.obj": b"",
        "one-point.obj": b"v 0 0 0\n",
        "line.obj": b"v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n",
        "flat.obj": b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
        "bad-index.obj": (corners + "f 1 2 9\n").encode(),
        "zero-index.obj": (corners + "f 0 1 2\n").encode(),
        "nan.obj": (corners + "v nan 0 0\n" + faces).encode(),
        "huge.obj": (corners + "v 1e308 1e308 1e308\n" + faces).encode(),
        "tiny.obj": "\n".join(line if line[:1] != "v" else "v " + " ".join(f"{float(x) * 1e-160}" for x in line.split()[1:]) for line in (corners + faces).split("\n")).encode(),
        "corner-50000.obj": ("".join(f"v {k} {k * k % 97} {k % 13}\n" for k in range(50_000)) + "f " + " ".join(map(str, range(1, 50_001)))).encode(),
        "same-points.obj": ("v 0 0 0\n" * 1000 + faces).encode(),
        "empty.dae": b"<COLLADA/>",
        "cut.dae": b"<COLLADA><library_geometries>",
        "cycle.dae": b'<COLLADA><library_nodes><node id="n"><instance_node url="#n"/></node></library_nodes><library_visual_scenes>'
        b'<visual_scene id="s"><instance_node url="#n"/></visual_scene></library_visual_scenes></COLLADA>',
        "empty.gltf": b"{}",
        "list.gltf": b"[" * 10_000,
        "amplify.gltf": gltf_amplified().encode(),
        "negative.gltf": gltf_amplified()[:0].encode() or b'{"meshes":[{"primitives":[{"attributes":{"POSITION":-1}}]}]}',
        "head-only.glb": b"glTF\x02\0\0\0\xff\xff\xff\xff",
        "none.ply": b"ply\n",
        "directory.obj": None,
    }
    for name, data in meshes.items():
        word = name.replace(".", "-")
        yield (f"mesh-{word}.xml", with_mesh(name), name, data)


def wrong_fields():
    draw = random.Random(1)
    noise = bytes(draw.randrange(256) for _ in range(400))
    pictures = {
        "bomb-20000.png": png(20_000, 20_000, b"\0" * (20_001 * 20_000)),
        "zero.png": png(0, 0, b""),
        "one.png": png(1, 1, b"\0\0"),
        "head-2e31.png": png(0x7FFFFFFF, 0x7FFFFFFF, b"\0"),
        "short.png": png(100, 100, b"\0" * 50),
        "noise.png": b"\x89PNG\r\n\x1a\n" + noise,
        "noise.bin": noise,
        "negative.bin": struct.pack("<ii", -1, 5),
        "huge.bin": struct.pack("<ii", 2**30, 2**30),
        "nan.bin": struct.pack("<ii4f", 2, 2, float("nan"), 0, 0, 1),
    }
    for name, data in pictures.items():
        text = f'<mujoco><asset><hfield name="h" size="1 1 1 1" file="{name}"/></asset><worldbody><geom type="hfield" hfield="h"/>' \
               "<body pos='0 0 2'><freejoint/><geom size='0.1'/></body></worldbody></mujoco>"
        yield (f"field-{name.replace('.', '-')}.xml", text, name, data)


def damaged():
    """Good files with pieces cut out, doubled or replaced."""
    draw = random.Random(7)
    for k in range(60):
        text = mjcf() if k % 2 else URDF.format(**URDF_GOOD)
        for _ in range(1 + k % 4):
            at, n = draw.randrange(len(text)), draw.randrange(30)
            piece = draw.choice(["", text[at : at + n] * 2, "<", '"', "nan", "-1", "1e308", "&", "<body>"])
            text = text[:at] + piece + text[at + n :]
        yield (f"damaged-{k}.{'xml' if k % 2 else 'urdf'}", text)


def files():
    for kind in (wrong_numbers, wrong_inertias, wrong_structure, amplification, wrong_urdf, wrong_meshes, wrong_fields, damaged):
        yield from kind()


def write(folder):
    """Writes all files; returns the names of the models."""
    folder.mkdir(parents=True, exist_ok=True)
    models = []
    for first, *rest in files():
        models.append(first)
        names = [first, *rest]
        # name, contents, name, contents …; contents of None is a folder
        for name, data in zip(names[::2], names[1::2]):
            if data is None:
                (folder / name).mkdir(exist_ok=True)
            else:
                (folder / name).write_bytes(data.encode() if isinstance(data, str) else data)
    return models


if __name__ == "__main__":
    print(len(write(Path(sys.argv[1]))), "models")
