// The bodies: an object each, with the shapes of its geoms.

import { Box3, CapsuleGeometry, Color, Group, Mesh, MeshStandardMaterial, Sphere, Vector3 } from "three";
import { geometry } from "./shapes.js";
import { Visuals } from "./visuals.js";

// By depth below the root, so that the legs of a robot look alike; each further tree has a color of its own.
const LIMBS = ["#f4f5f7", "#465366", "#4a86c8", "#5a6779", "#93b9e2", "#778698"];
// Neither list has the green, orange and gray of contacts.
const TREES = ["#e3c463", "#8a78bd", "#c9748a", "#6f97cc", "#b3a06a", "#957a66"];
const STATIC = "#aab4c0";
const ROUGH = 0.5; // of surfaces: neither chalk nor mirror
const THIN = 0.06; // radius of a bone, as a share of its length
const SECOND = 0.5; // every other geom of a body is darker by this factor

function color(body, index, data) {
  const { depth, tree } = data.bodies[body];
  if (body === 0) return new Color(STATIC);
  const base = tree > 0 ? TREES[(tree - 1) % TREES.length] : LIMBS[depth % LIMBS.length];
  return new Color(base).multiplyScalar(index % 2 ? SECOND : 1);
}

function shape(geom, material, data) {
  const form = geometry(geom, data);
  if (!form) return null;
  const mesh = new Mesh(form, material);
  mesh.name = geom.name;
  mesh.position.fromArray(geom.pose);
  mesh.quaternion.fromArray(geom.pose, 3);
  mesh.castShadow = true;
  mesh.receiveShadow = true;
  return mesh;
}

// Bodies without shapes are shown by bones: from the origin of each to those that it carries.
function bones(data, bodies) {
  const bare = bodies.map((body, k) => k > 0 && body.children.length === 0);
  data.bodies.forEach(({ parent, place }, k) => {
    const end = new Vector3().fromArray(place);
    if (k === 0 || !bare[parent] || end.lengthSq() === 0) return;
    const material = new MeshStandardMaterial({ color: color(parent, 0, data), roughness: ROUGH });
    const bone = new Mesh(new CapsuleGeometry(THIN * end.length(), end.length(), 6, 16), material);
    bone.position.copy(end).multiplyScalar(0.5);
    bone.quaternion.setFromUnitVectors(new Vector3(0, 1, 0), end.normalize());
    bone.castShadow = bone.receiveShadow = true;
    bodies[parent].add(bone);
  });
}

// A group per body, the world's first, and a ball around the shapes of each moving one. `show(visual)` chooses between the
// shapes that the file shows and those that touch; `changed()` is called when a picture has been read.
export function robot(data, changed) {
  const plain = (body, index) => new MeshStandardMaterial({ color: color(body, index, data), roughness: ROUGH });
  const visuals = new Visuals(data, plain, changed);
  const [bodies, solid] = [data.bodies.map(() => new Group()), data.bodies.map(() => new Group())];
  data.geoms.forEach((geom, number) => {
    const ground = geom.kind === "hfield" || geom.kind === "terrain";
    // shapes that touch nothing belong to the other view
    if (visuals.any && !ground && !visuals.touching.has(number)) return;
    const group = ground ? bodies[geom.body] : solid[geom.body];
    const mesh = shape(geom, visuals.paint(number, geom.body, group.children.length), data);
    if (mesh) group.add(mesh);
  });
  const all = [visuals.groups, solid];
  for (const groups of all) groups.forEach((group, k) => group.children.length > 0 && bodies[k].add(group));
  bones(data, bodies);
  const show = (visual) => all.forEach((groups, k) => groups.forEach((group) => (group.visible = visual === (k === 0))));
  const balls = bodies.slice(1).map((body) => {
    const box = new Box3().setFromObject(body);
    if (box.isEmpty()) return { center: new Vector3(), radius: 0 };
    const { center, radius } = box.getBoundingSphere(new Sphere());
    return { center: center, radius };
  });
  return { bodies, balls, any: visuals.any, show };
}
